/* The public functions of the model compiler. The build lives at the start of the
 * caller's memory, its arena behind it. See isotok_build.h. */
#include "isotok_build.h"

#include "added.h"
#include "export_spm_fb.h"
#include "read_arrays.h"
#include "write_blob.h"
#include "write_sentencepiece.h"

enum phase { EMPTY, ARRAYS, SOURCE, CHECKED, FAILED };

struct isotok_build {
    isotok__work work;
    isotok__spec spec;
    isotok__arrays arrays;
    isotok__plan plan;
    isotok__parts *parts;  /* made when first asked for */
    isotok__spm_fb spm_fb; /* the same */
    enum phase phase;
    bool has_spm_fb;
    bool has_added;
    bool only_added; /* the plan is that of ISOTOK_FORM_ADDED */
};

enum { MIN_MEMORY = 4096 }; /* as isotok_build.h promises */
_Static_assert(sizeof(isotok_build) + ISOTOK_ALIGN <= MIN_MEMORY, "isotok_build is too large");

/* Copies the error out; a build that failed stays failed. */
static isotok_status finish_call(isotok_build *build, isotok_status status, isotok_error *out_error)
{
    if (status != ISOTOK_OK && status != ISOTOK_NEED_OUTPUT) {
        build->phase = FAILED;
    }
    if (status != ISOTOK_OK && out_error != NULL) {
        uint32_t size = out_error->size;
        *out_error = build->work.error;
        out_error->size = size;
        out_error->status = status;
    }
    return status;
}

/* An error without a build to keep it. */
static isotok_status refuse(isotok_error *out_error, isotok_status status, uint32_t what,
                            uint64_t need)
{
    if (out_error != NULL) {
        out_error->status = status;
        out_error->what = what;
        out_error->index = ISOTOK__NO_INDEX;
        out_error->offset = 0;
        out_error->need = need;
    }
    return status;
}

static bool is_little_endian(void)
{
    const uint32_t one = 1;
    uint8_t first;
    memcpy(&first, &one, 1);
    return first == 1;
}

isotok_status isotok_build_init(void *memory, size_t memory_size, isotok_build **out_build,
                                isotok_error *out_error)
{
    size_t head = isotok__align_up(sizeof(isotok_build), ISOTOK_ALIGN);
    if (!is_little_endian()) {
        return refuse(out_error, ISOTOK_E_UNSUPPORTED, ISOTOK_WHAT_ENDIAN, 0);
    }
    if (memory == NULL || out_build == NULL) {
        return refuse(out_error, ISOTOK_E_ARGUMENT, ISOTOK_WHAT_NULL_POINTER, 0);
    }
    if (!isotok__is_aligned(memory, ISOTOK_ALIGN)) {
        return refuse(out_error, ISOTOK_E_ALIGNMENT, ISOTOK_WHAT_BUILD_MEMORY, 0);
    }
    if (memory_size < MIN_MEMORY) {
        return refuse(out_error, ISOTOK_NEED_SCRATCH, ISOTOK_WHAT_BUILD_MEMORY, 1u << 16);
    }
    isotok_build *build = (isotok_build *)memory;
    memset(build, 0, sizeof *build);
    isotok__work_init(&build->work, (uint8_t *)memory + head, memory_size - head);
    isotok__spec_init(&build->spec);
    build->spec.parity = ISOTOK_PARITY_ISOTOK;
    *out_build = build;
    return ISOTOK_OK;
}

/* A first guess at the memory of the whole build, so that one retry is enough. Real models
 * need 4 to 5 bytes for each byte of the file (pieces, sort, trie, pairs). */
static void hint(isotok__work *work, size_t source_size)
{
    if (source_size < SIZE_MAX / 32) {
        work->need_hint = ((size_t)1 << 18) + 7 * source_size;
    }
}

static uint32_t kind_of(isotok__span source)
{
    if (source.size >= 4 && isotok__load_u32(source.data) == ISOTOK__MAGIC) {
        return ISOTOK_SOURCE_PACKED;
    }
    if (isotok__is_fields(source)) {
        return ISOTOK_SOURCE_FIELDS;
    }
    return isotok__is_spm_fb(source) ? ISOTOK_SOURCE_SPM_FB : ISOTOK_SOURCE_SENTENCEPIECE;
}

isotok_status isotok_build_source(isotok_build *build, uint32_t kind, const void *bytes,
                                  size_t size, isotok_error *out_error)
{
    isotok__work *work;
    isotok_status status;
    static const uint8_t empty = 0;
    isotok__span source = {size == 0 ? &empty : (const uint8_t *)bytes, size};
    if (build == NULL || source.data == NULL) {
        return refuse(out_error, ISOTOK_E_ARGUMENT, ISOTOK_WHAT_NULL_POINTER, 0);
    }
    if (build->phase != EMPTY) {
        return refuse(out_error, ISOTOK_E_STATE, ISOTOK_WHAT_SOURCE_KIND, 0);
    }
    work = &build->work;
    hint(work, size);
    build->spec.is_0_2_1 = (kind & ISOTOK_SOURCE_0_2_1) != 0;
    kind &= ~(uint32_t)ISOTOK_SOURCE_0_2_1;
    kind = kind == ISOTOK_SOURCE_AUTO ? kind_of(source) : kind;
    build->phase = SOURCE;
    build->spec.parity = ISOTOK_PARITY_SENTENCEPIECE;
    if (kind == ISOTOK_SOURCE_SENTENCEPIECE) {
        status = isotok__read_sentencepiece(work, &build->spec, source);
    } else if (kind == ISOTOK_SOURCE_PACKED) {
        status = isotok__read_packed(work, &build->spec, source);
    } else if (kind == ISOTOK_SOURCE_SPM_FB) {
        status = isotok__read_spm_fb(work, &build->spec, source);
    } else if (kind == ISOTOK_SOURCE_FIELDS) {
        build->spec.parity = ISOTOK_PARITY_ISOTOK;
        status = isotok__read_fields(work, &build->arrays, &build->spec, source);
    } else {
        status = isotok__build_fail(work, ISOTOK_E_ARGUMENT, ISOTOK_WHAT_SOURCE_KIND, kind, 0);
    }
    return finish_call(build, status, out_error);
}

isotok_status isotok_build_set(isotok_build *build, uint32_t field, const void *data, size_t count,
                               isotok_error *out_error)
{
    if (build == NULL) {
        return refuse(out_error, ISOTOK_E_ARGUMENT, ISOTOK_WHAT_NULL_POINTER, 0);
    }
    if (build->phase != EMPTY && build->phase != ARRAYS) {
        return refuse(out_error, ISOTOK_E_STATE, ISOTOK_WHAT_FIELD, 0);
    }
    build->phase = ARRAYS;
    return finish_call(
        build, isotok__arrays_set(&build->work, &build->arrays, &build->spec, field, data, count),
        out_error);
}

isotok_status isotok_build_added(isotok_build *build, const void *data, size_t size,
                                 isotok_error *out_error)
{
    if (build == NULL || data == NULL) {
        return refuse(out_error, ISOTOK_E_ARGUMENT, ISOTOK_WHAT_NULL_POINTER, 0);
    }
    if (build->phase != SOURCE || build->has_added) {
        return refuse(out_error, ISOTOK_E_STATE, ISOTOK_WHAT_FIELD, 0);
    }
    build->has_added = true;
    isotok__span source = {(const uint8_t *)data, size};
    return finish_call(build, isotok__added_take(&build->work, &build->spec, source), out_error);
}

/* The passes for ISOTOK_FORM_ADDED: all else is in the base. */
static isotok_status compile_added(isotok_build *build)
{
    isotok__plan *plan = &build->plan;
    const isotok__spec *spec = &build->spec;
    memset(plan, 0, sizeof *plan);
    plan->max_piece_bytes = spec->longest_piece;
    plan->max_key_bytes = spec->longest_key;
    for (size_t i = 0; i < spec->added.size; i += 2) {
        uint32_t size = (uint32_t)isotok__piece(spec, isotok__number(spec->added, i)).size;
        plan->max_piece_bytes = size > plan->max_piece_bytes ? size : plan->max_piece_bytes;
        plan->max_key_bytes = size > plan->max_key_bytes ? size : plan->max_key_bytes;
    }
    isotok__plan_operations(spec, plan);
    isotok_status status = isotok__plan_added(&build->work, spec, plan);
    return status == ISOTOK_OK && spec->pretokens && spec->algorithm == ISOTOK_UNIGRAM
               ? isotok__plan_exact(&build->work, spec, plan)
               : status;
}

/* Check and passes: once, whatever is written afterwards. */
static isotok_status compile(isotok_build *build)
{
    isotok_status status = ISOTOK_OK;
    if (build->phase != SOURCE) {
        hint(&build->work, build->arrays.piece_text.size + 8 * build->arrays.piece_count);
        status = isotok__arrays_finish(&build->work, &build->arrays, &build->spec);
    }
    if (status == ISOTOK_OK && build->only_added) {
        return compile_added(build);
    }
    if (status == ISOTOK_OK) {
        status = isotok__spec_check(&build->work, &build->spec);
    }
    if (status == ISOTOK_OK) {
        status = isotok__plan_make(&build->work, &build->spec, &build->plan);
    }
    return status;
}

static isotok_status write_spm_fb(isotok_build *build, uint8_t *out, size_t capacity,
                                  size_t *out_size)
{
    if (!build->has_spm_fb) {
        isotok_status status =
            isotok__spm_fb_make(&build->work, &build->spec, &build->plan, &build->spm_fb);
        if (status != ISOTOK_OK) {
            return status;
        }
        build->has_spm_fb = true;
    }
    return isotok__spm_fb_write(&build->work, &build->spm_fb, out, capacity, out_size);
}

static isotok_status make_parts(isotok_build *build, uint32_t form)
{
    if (build->parts == NULL) {
        build->parts = ISOTOK__KEEP(&build->work, isotok__parts, 1);
    }
    return build->parts == NULL
               ? build->work.error.status
               : isotok__blob_parts(&build->work, &build->spec, &build->plan, form, build->parts);
}

static isotok_status write_blob(isotok_build *build, uint32_t form, uint8_t *out, size_t capacity,
                                size_t *out_size)
{
    isotok_status status = make_parts(build, form);
    return status == ISOTOK_OK ? isotok__parts_write(build->parts, out, capacity, out_size)
                               : status;
}

static isotok_status write_form(isotok_build *build, uint32_t form, uint8_t *out, size_t capacity,
                                size_t *out_size)
{
    uint32_t parity = build->spec.parity;
    bool foreign = form == ISOTOK_FORM_SENTENCEPIECE || form == ISOTOK_FORM_SPM_FB;
    if (foreign && ((parity != ISOTOK_PARITY_SENTENCEPIECE && parity != ISOTOK_PARITY_ISOTOK) ||
                    isotok__by_pretokens(&build->spec) || build->spec.unicode_header.size != 0)) {
        return isotok__build_fail(&build->work, ISOTOK_E_UNSUPPORTED, ISOTOK_WHAT_EXPORT_PARITY,
                                  ISOTOK__NO_INDEX, 0);
    }
    switch (form) {
    case ISOTOK_FORM_SENTENCEPIECE:
        return isotok__sentencepiece_write(&build->work, &build->spec, out, capacity, out_size);
    case ISOTOK_FORM_SPM_FB: return write_spm_fb(build, out, capacity, out_size);
    default: return write_blob(build, form, out, capacity, out_size);
    }
}

/* Whether this form can be asked for now: OK or not. */
static isotok_status check_form(const isotok_build *build, uint32_t form, isotok_error *out_error)
{
    if (form > ISOTOK_FORM_ADDED || (form == ISOTOK_FORM_ADDED && !build->has_added) ||
        (build->phase == CHECKED && build->only_added != (form == ISOTOK_FORM_ADDED))) {
        return refuse(out_error, ISOTOK_E_ARGUMENT, ISOTOK_WHAT_OPTION, 0);
    }
    if (build->phase == FAILED) {
        return refuse(out_error, ISOTOK_E_STATE, ISOTOK_WHAT_SOURCE_KIND, 0);
    }
    return ISOTOK_OK;
}

static isotok_status compile_once(isotok_build *build, uint32_t form)
{
    if (build->phase == CHECKED) {
        return ISOTOK_OK;
    }
    build->only_added = form == ISOTOK_FORM_ADDED;
    isotok_status status = compile(build);
    build->phase = CHECKED;
    return status;
}

isotok_status isotok_build_finish(isotok_build *build, uint32_t form, void *out, size_t capacity,
                                  size_t *out_size, isotok_error *out_error)
{
    if (build == NULL || out_size == NULL || (out == NULL && capacity != 0)) {
        return refuse(out_error, ISOTOK_E_ARGUMENT, ISOTOK_WHAT_NULL_POINTER, 0);
    }
    isotok_status status = check_form(build, form, out_error);
    if (status == ISOTOK_OK && !isotok__is_aligned(out, ISOTOK_ALIGN)) {
        status = refuse(out_error, ISOTOK_E_ALIGNMENT, ISOTOK_WHAT_BLOB_ADDRESS, 0);
    }
    if (status != ISOTOK_OK) {
        return status;
    }
    *out_size = 0;
    status = compile_once(build, form);
    if (status == ISOTOK_OK) {
        status = write_form(build, form, (uint8_t *)out, capacity, out_size);
    }
    if (status == ISOTOK_NEED_OUTPUT) {
        return refuse(out_error, status, ISOTOK_WHAT_BUILD_OUTPUT, *out_size);
    }
    return finish_call(build, status, out_error);
}

isotok_status isotok_build_parts(isotok_build *build, uint32_t form,
                                 const isotok_build_part **out_parts, size_t *out_count,
                                 isotok_error *out_error)
{
    if (build == NULL || out_parts == NULL || out_count == NULL) {
        return refuse(out_error, ISOTOK_E_ARGUMENT, ISOTOK_WHAT_NULL_POINTER, 0);
    }
    isotok_status status = check_form(build, form, out_error);
    if (status == ISOTOK_OK && (form == ISOTOK_FORM_SENTENCEPIECE || form == ISOTOK_FORM_SPM_FB)) {
        status = refuse(out_error, ISOTOK_E_ARGUMENT, ISOTOK_WHAT_OPTION, 0);
    }
    if (status != ISOTOK_OK) {
        return status;
    }
    status = compile_once(build, form);
    if (status == ISOTOK_OK) {
        status = make_parts(build, form);
    }
    if (status == ISOTOK_OK) {
        *out_parts = build->parts->list;
        *out_count = build->parts->count;
    }
    return finish_call(build, status, out_error);
}
