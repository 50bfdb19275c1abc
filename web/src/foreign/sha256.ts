/** SHA-256, also where a page has no `crypto.subtle`: outside secure contexts. */

const K = new Uint32Array(64);
const START = new Uint32Array(8);

/** The constants are the first bits of the fractions of roots of primes. */
for (let n = 2, found = 0; found < 64; n++) {
  let isPrime = true;
  for (let i = 2; i * i <= n; i++) isPrime &&= n % i !== 0;
  if (!isPrime) continue;
  K[found] = fraction(Math.cbrt(n));
  if (found < 8) START[found] = fraction(Math.sqrt(n));
  found++;
}

function fraction(root: number): number {
  return Math.floor((root - Math.floor(root)) * 2 ** 32);
}

function rotate(word: number, count: number): number {
  return (word >>> count) | (word << (32 - count));
}

/** The digest in hexadecimal digits. */
export function sha256(data: Uint8Array): string {
  const size = Math.ceil((data.length + 9) / 64) * 64;
  const padded = new Uint8Array(size);
  padded.set(data);
  padded[data.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setUint32(size - 8, Math.floor(data.length / 2 ** 29));
  view.setUint32(size - 4, data.length << 3);
  const state = START.slice();
  const words = new Uint32Array(64);
  for (let at = 0; at < size; at += 64) {
    for (let i = 0; i < 16; i++) words[i] = view.getUint32(at + 4 * i);
    compress(state, words);
  }
  return Array.from(state, (word) => word.toString(16).padStart(8, "0")).join("");
}

function compress(state: Uint32Array, words: Uint32Array): void {
  const w = (i: number) => words[i] as number;
  for (let i = 16; i < 64; i++) {
    const [a, b] = [w(i - 15), w(i - 2)];
    const s0 = rotate(a, 7) ^ rotate(a, 18) ^ (a >>> 3);
    const s1 = rotate(b, 17) ^ rotate(b, 19) ^ (b >>> 10);
    words[i] = w(i - 16) + s0 + w(i - 7) + s1;
  }
  let [a, b, c, d, e, f, g, h] = state as unknown as [
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  for (let i = 0; i < 64; i++) {
    const s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
    const one = (h + s1 + ((e & f) ^ (~e & g)) + (K[i] as number) + w(i)) | 0;
    const s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
    const two = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + two) | 0];
  }
  for (const [i, word] of [a, b, c, d, e, f, g, h].entries()) {
    state[i] = (state[i] as number) + word;
  }
}
