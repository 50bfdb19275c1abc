/** What a value is, also where it comes from another realm (a frame, a test's sandbox). */

function hasTag(value: unknown, tag: string): boolean {
  return Object.prototype.toString.call(value) === `[object ${tag}]`;
}

export function isArrayBuffer(value: unknown): value is ArrayBuffer {
  return hasTag(value, "ArrayBuffer");
}

export function isUint8Array(value: unknown): value is Uint8Array {
  return hasTag(value, "Uint8Array");
}

export function isUint32Array(value: unknown): value is Uint32Array {
  return hasTag(value, "Uint32Array");
}

/** (To TypeScript, every object is a Module: hence no `value is`.) */
export function isModule(value: unknown): boolean {
  return hasTag(value, "WebAssembly.Module");
}
