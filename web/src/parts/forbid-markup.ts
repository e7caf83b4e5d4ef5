interface TrustedTypes {
  createPolicy(name: string, rules: { readonly createHTML: (text: string) => string | null }): void;
}

/** Forbids markup in `innerHTML`. Allows other texts, because Chessground empties its element with `innerHTML`. */
export function forbidMarkup(): void {
  const { trustedTypes } = globalThis as { readonly trustedTypes?: TrustedTypes };
  trustedTypes?.createPolicy("default", { createHTML: (text) => (/[<&]/.test(text) ? null : text) });
}
