/** Built blobs in the Cache API, by the contents of what they were built from. */

/** The cache that `cache: true` means. */
const NAME = "isotok";

/** Blobs built by one version of the compiler. */
export class BlobCache {
  readonly #cache: Cache;
  readonly #key: string;

  private constructor(cache: Cache, key: string) {
    this.#cache = cache;
    this.#key = key;
  }

  /**
   * Finds the place for the blob of a model.
   *
   * @returns Undefined where there is no Cache API or no digest: pages that are not in a
   * secure context, Node. Then nothing is kept.
   */
  static async open(
    name: string | true,
    source: Uint8Array<ArrayBuffer>,
    version: string,
  ): Promise<BlobCache | undefined> {
    if (typeof caches === "undefined" || globalThis.crypto?.subtle === undefined) return undefined;
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", source));
    const hex = Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
    // Keys of a cache are addresses; nobody ever asks for this one.
    const key = `https://isotok.invalid/${version}/${hex}.isotok`;
    try {
      return new BlobCache(await caches.open(name === true ? NAME : name), key);
    } catch {
      return undefined; // storage is switched off
    }
  }

  async get(): Promise<Response | undefined> {
    return this.#cache.match(this.#key);
  }

  /** Keeps a blob; that there is no room for it is no error. */
  async put(blob: Uint8Array<ArrayBuffer>): Promise<void> {
    const headers = { "content-length": String(blob.length) };
    try {
      await this.#cache.put(this.#key, new Response(blob, { headers }));
    } catch {
      await this.delete();
    }
  }

  async delete(): Promise<void> {
    await this.#cache.delete(this.#key);
  }
}
