interface TrustedTypes {
  createPolicy(name: string, rules: { readonly createHTML: (text: string) => string | null }): void;
}

/**
 * Lets scripts assign text to `innerHTML` if it holds no markup. The page's Content-Security-Policy refuses every other assignment;
 * Chessground empties its element by the empty text.
 */
export function forbidMarkup(): void {
  const { trustedTypes } = globalThis as { readonly trustedTypes?: TrustedTypes };
  trustedTypes?.createPolicy("default", { createHTML: (text) => (/[<&]/.test(text) ? null : text) });
}
