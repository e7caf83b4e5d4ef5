interface TrustedTypes {
  createPolicy(name: string, rules: { readonly createHTML: (text: string) => string | null }): void;
}

/** Allows `innerHTML` only for texts without markup. Chessground needs this to empty its element. */
export function forbidMarkup(): void {
  const { trustedTypes } = globalThis as { readonly trustedTypes?: TrustedTypes };
  trustedTypes?.createPolicy("default", { createHTML: (text) => (/[<&]/.test(text) ? null : text) });
}
