/* What the wasm modules export beyond the public headers: where free memory begins. The
 * host owns everything from there on and grows the memory; the core never does. */
#include "isotok.h"

extern unsigned char __heap_base; /* set by the linker, behind stack and data */

ISOTOK_API(isotok_heap_base)
uint32_t isotok_heap_base(void);

uint32_t isotok_heap_base(void)
{
    return (uint32_t)(uintptr_t)&__heap_base;
}
