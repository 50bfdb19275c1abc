/** Texts to try. */

export interface Sample {
  readonly label: string;
  readonly lang: string;
  readonly text: string;
}

export const SAMPLES: readonly Sample[] = [
  {
    label: "English",
    lang: "en",
    text: `A tokenizer cuts text into pieces of a fixed vocabulary. Common words stay whole;
unfamiliar ones, like "retokenizability", fall apart. So do numbers: 3.14159, 2^64.

Point at a piece to see its id, its score and where it came from. 🌵`,
  },
  {
    label: "Code",
    lang: "en",
    text: `def fib(n: int) -> int:
    """The n-th Fibonacci number."""
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
\treturn a  # a tab, by mistake
`,
  },
  {
    label: "العربية",
    lang: "ar",
    text: `مرحبًا بالعالم! هذا نصّ قصير لتجربة التقطيع.
السعر 250 ريالًا (about $67) والموعد 12:30.

שלום עולם, זה ניסיון קצר.
The word سلام means peace.`,
  },
  {
    label: "日本語",
    lang: "ja",
    text: `私たちは文章を短い断片に分けて、番号を付けます。
カタカナ、ひらがな、漢字、㌔や①のような記号もあります。全角ＡＢＣ。`,
  },
  {
    label: "Emoji",
    lang: "en",
    text: `Family 👨‍👩‍👧‍👦, developer 👩🏽‍💻, flags 🇯🇵🇫🇷, keycap 1️⃣, rainbow 🏳️‍🌈.
Marks: é (e + ´), ñ, ắ, क्षि, and H̷̛̖́i.`,
  },
];
