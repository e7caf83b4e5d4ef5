import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/** The files of Swagger UI that the page of the API loads, and none other of its folder. */
const contentTypes = new Map([
  ["swagger-ui-bundle.js", "text/javascript; charset=utf-8"],
  ["swagger-ui.css", "text/css; charset=utf-8"],
  ["favicon-32x32.png", "image/png"],
]);

/** A file of the viewer, as it lies in its package. */
export interface ViewerFile {
  readonly contentType: string;
  readonly body: Buffer;
}

/** Read when asked for: 2 MB that most servers never send. Undefined for what is no file of the viewer. */
export function viewerFile(name: string): Promise<ViewerFile> | undefined {
  const contentType = contentTypes.get(name);
  return contentType === undefined ? undefined : read(name, contentType);
}

async function read(name: string, contentType: string): Promise<ViewerFile> {
  const folder = dirname(createRequire(import.meta.url).resolve("swagger-ui-dist/package.json"));
  return { contentType, body: await readFile(join(folder, name)) };
}
