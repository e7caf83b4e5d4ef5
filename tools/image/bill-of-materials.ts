import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));

interface Component {
  readonly type: string;
  readonly name: string;
  readonly version?: string;
  readonly purl?: string;
  readonly hashes?: readonly { readonly alg: string; readonly content: string }[];
}

interface BillOfMaterials {
  readonly metadata: { readonly component: Component };
  readonly components: readonly Component[];
}

const programs = { node: "/usr/local/bin/node", stockfish: "/usr/games/stockfish" };

/** Returns the components in the CycloneDX format. `image` is the folder where the image is mounted. */
export function billOfMaterials(image: string, nodeVersion: string): BillOfMaterials {
  const npm = JSON.parse(
    execFileSync("npm", ["sbom", "--omit", "dev", "--sbom-format", "cyclonedx"], {
      cwd: root,
      encoding: "utf8",
      maxBuffer: 64 * 1024 * 1024,
    }),
  );
  const node = {
    type: "application",
    name: "node",
    version: nodeVersion,
    purl: `pkg:generic/node@${nodeVersion}`,
  };
  return {
    ...npm,
    components: [
      ...npm.components,
      { ...node, hashes: hashesOf(join(image, programs.node)) },
      ...debianPackages(image),
      ...engineFiles(image),
    ],
  };
}

function debianPackages(image: string): readonly Component[] {
  const folder = join(image, "var/lib/dpkg/status.d");
  return readdirSync(folder)
    .toSorted()
    .map((file) => {
      const status = readFileSync(join(folder, file), "utf8");
      const field = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(status)?.[1] ?? "";
      const [name, version] = [field("Package"), field("Version")];
      const at = `${encodeURIComponent(version)}?arch=${field("Architecture")}&distro=debian`;
      return { type: "library", name, version, purl: `pkg:deb/debian/${name}@${at}` };
    });
}

/** Lists the engine files with the same digests as `GET /engines`. */
function engineFiles(image: string): readonly Component[] {
  const bin = "app/node_modules/stockfish/bin";
  const files = readdirSync(join(image, bin)).map((file) => `/${bin}/${file}`);
  return [...files.toSorted(), programs.stockfish]
    .filter((path) => existsSync(join(image, path)))
    .map((path) => ({ type: "file", name: path, hashes: hashesOf(join(image, path)) }));
}

function hashesOf(path: string): readonly { readonly alg: string; readonly content: string }[] {
  return [{ alg: "SHA-256", content: createHash("sha256").update(readFileSync(path)).digest("hex") }];
}
