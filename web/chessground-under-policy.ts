import type { Plugin } from "vite";

/** Twelve squares of this side, in two rows. */
const side = 45;
const columns = 6;

/** What Chessground's scripts do that the policy of the page forbids, and what does the same and is allowed. */
const rewritten: readonly (readonly [file: string, from: string, to: string])[] = [
  ["wrap.js", "element.innerHTML = '';", "element.replaceChildren();"],
  // A style as an attribute. A style sheet says it instead.
  ["wrap.js", "style: 'color-scheme:light only',", ""],
  ["svg.js", "labelEl.innerHTML = label.text;", "labelEl.textContent = label.text;"],
];

/**
 * Chessground, so that the page can have the strictest policy: no style in attributes, no text that becomes HTML, and no pictures
 * as data addresses. Those become files, of pieces one for all: a board asks for one thing and not for twelve.
 */
export function chessgroundUnderPolicy(): Plugin {
  return {
    name: "chessground-under-policy",
    apply: "build",
    enforce: "pre",
    transform(code, id) {
      const [, file = ""] = /\/@lichess-org\/chessground\/(?:dist|assets)\/([\w.]+)$/.exec(id) ?? [];
      if (file.endsWith(".css")) {
        return withFiles(code, file, (name, source) => this.emitFile({ type: "asset", name, source }));
      }
      const changes = rewritten.filter(([about]) => about === file);
      return changes.length === 0 ? undefined : { code: rewrite(code, changes), map: null };
    },
  };
}

function rewrite(code: string, changes: typeof rewritten): string {
  return changes.reduce((text, [file, from, to]) => {
    if (!text.includes(from)) {
      throw new Error(`chessground's ${file} has no more: ${from}`);
    }
    return text.replace(from, to);
  }, code);
}

const picture = /background-image:\s*url\('data:image\/svg\+xml;base64,([^']+)'\);?/g;

function withFiles(code: string, file: string, emit: (name: string, source: string) => string) {
  const pictures = [...code.matchAll(picture)].map(([, base64 = ""]) =>
    Buffer.from(base64, "base64").toString(),
  );
  const [only] = pictures;
  if (only === undefined) {
    return undefined;
  }
  const isPieces = pictures.length === 2 * columns;
  if (!isPieces && pictures.length > 1) {
    throw new Error(`chessground's ${file} has ${pictures.length} pictures: neither pieces nor a board`);
  }
  const reference = isPieces ? emit("pieces.svg", sheetOf(pictures)) : emit("board.svg", only);
  let index = 0;
  return code.replace(picture, () => {
    const place = isPieces ? placeOf(index++) : "";
    return `background-image: url("__VITE_ASSET__${reference}__");${place}`;
  });
}

function sheetOf(pictures: readonly string[]): string {
  const squares = pictures.map((picture, index) =>
    picture.replace(
      /^<svg[^>]*>/,
      `<svg x="${(index % columns) * side}" y="${Math.floor(index / columns) * side}" width="${side}" height="${side}">`,
    ),
  );
  const [width, height] = [columns * side, (pictures.length / columns) * side];
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">${squares.join("")}</svg>\n`;
}

function placeOf(index: number): string {
  const column = ((index % columns) / (columns - 1)) * 100;
  const row = index < columns ? 0 : 100;
  return ` background-size: ${columns * 100}% 200%; background-position: ${column}% ${row}%;`;
}
