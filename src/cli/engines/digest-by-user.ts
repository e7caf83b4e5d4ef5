import { once } from "node:events";
import { createInterface } from "node:readline";
import { isJsonObject } from "../../text/json.ts";
import type { CommandInput } from "../command.ts";
import { loadJson } from "./load-file.ts";
import type { Release } from "./official-release.ts";

const documentMaxBytes = 5e6;

/** Returns the digest that the document of the release names, if the user accepts it. */
export async function digestByUser(
  { signal, host }: CommandInput,
  { document, hosts, name }: Release,
  archive: string,
  isAccepted: boolean,
  silenceMaxMs?: number,
): Promise<string> {
  const limits = { silenceMaxMs, maxBytes: documentMaxBytes };
  const content = await loadJson(new URL(document), { hosts, signal, ...limits });
  const digest = digestIn(content, archive);
  if (digest === undefined) {
    throw new Error(
      `${document} names no digest of ${archive}; load the file, check it in another way, and install it with --from FILE --sha256 DIGEST`,
    );
  }
  host.stderr.write(
    `Kibitz does not know the digest of this build of ${name}. The release names the SHA-256 digest\n  ${digest}\nwhich comes from the same place as the file: it shows a broken download, but not a forged release.\n`,
  );
  if (!isAccepted && !(await isConfirmed(host, signal))) {
    throw new Error(
      "nothing was installed. --yes accepts the digest of the release, --sha256 names a digest",
    );
  }
  return digest;
}

function digestIn(release: unknown, archive: string): string | undefined {
  const assets = isJsonObject(release) && Array.isArray(release.assets) ? release.assets : [];
  const asset = assets.filter(isJsonObject).find(({ name }) => name === archive);
  return /^sha256:([0-9a-f]{64})$/.exec(String(asset?.digest))?.[1];
}

/** Returns false at the end of the input. */
async function isConfirmed({ stdin, stderr }: CommandInput["host"], signal: AbortSignal): Promise<boolean> {
  stderr.write("Install it? [y/N] ");
  const lines = createInterface({ input: stdin, terminal: false });
  try {
    const ended = once(lines, "close", { signal }).then(() => [""]);
    const [answer] = (await Promise.race([once(lines, "line", { signal }), ended])) as [string];
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    lines.close();
  }
}
