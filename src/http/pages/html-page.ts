export const staticPolicy =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'";

/** Makes a page look like the web page at `/`. A test compares the colours with `web/src/style/tokens.css`. */
export const siteStyle = `:root {
  color-scheme: light dark;
  --ground: light-dark(#f4f3f0, #1b1a18);
  --surface: light-dark(#fdfdfc, #262421);
  --text: light-dark(#262320, #d6d3cd);
  --text-strong: light-dark(#131110, #f3f1ed);
  --text-quiet: light-dark(#5f5a53, #a39e96);
  --line: light-dark(#e0ddd6, #383531);
  --accent: light-dark(#1f6b50, #79c9a6);
  --accent-hover: light-dark(#17543f, #96d8bb);
  --focus: light-dark(#0b62c4, #82b7ff);
}
html { background: var(--ground); color: var(--text); text-size-adjust: 100% }
body { margin: 0; font: 0.9375rem/1.45 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif; overflow-wrap: anywhere }
.site-header, .site-main { max-width: 52rem; margin: 0 auto; padding: 0.5rem 1rem }
.site-header { display: flex; flex-wrap: wrap; align-items: center; gap: 0 1rem }
.site-header a { display: inline-flex; align-items: center; min-height: 2.25rem }
.site-name { color: var(--text-strong); font-size: 1.125rem; font-weight: 600; text-decoration: none }
h1, h2 { color: var(--text-strong); font-weight: 600; line-height: 1.25 }
h1 { font-size: 1.375rem }
h2 { margin: 1.5rem 0 0; padding-top: 1rem; border-top: 1px solid var(--line); font-size: 1.125rem }
p { margin: 0.5rem 0 }
a { color: var(--accent); text-underline-offset: 0.2em }
a:hover { color: var(--accent-hover) }
:focus-visible { outline: 2px solid var(--focus); outline-offset: 2px }
code { font-family: ui-monospace, "SF Mono", "Cascadia Mono", "DejaVu Sans Mono", Consolas, monospace; font-size: 0.9em }
.quiet { color: var(--text-quiet) }
`;

interface HtmlPage {
  readonly title: string;
  /** The relative path from the page to the root of the service, with `/` at the end. */
  readonly root: string;
  readonly head: string;
  readonly main: string;
}

export function htmlPage({ title, root, head, main }: HtmlPage): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Kibitz – ${escapeHtml(title)}</title>
${head}
<body>
<header class="site-header">
<a class="site-name" href="${root}">Kibitz</a>
<a href="${root}docs">API reference</a>
<a href="${root}problems">Error codes</a>
</header>
${main}
</body>
</html>
`;
}

/** Returns a page that loads nothing and runs no script. Send this page with {@link staticPolicy}. */
export function staticPage({ title, root, main }: Omit<HtmlPage, "head">): string {
  return htmlPage({
    title,
    root,
    head: `<style>\n${siteStyle}</style>`,
    main: `<main class="site-main">\n<h1>${escapeHtml(title)}</h1>\n${main}\n</main>`,
  });
}

export function escapeHtml(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
