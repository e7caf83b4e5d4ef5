/** Builds the image twice, compares the builds, and runs the image as root. Needs Podman, runc and mmdebstrap. */
import { strict as assert } from "node:assert";
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { makeBaseImage } from "./base-image.ts";
import { billOfMaterials } from "./bill-of-materials.ts";
import {
  baseOfDockerfile,
  buildImage,
  configOf,
  type Layer,
  layersOf,
  sourceDateEpoch,
} from "./build-image.ts";
import { openContainers } from "./containers.ts";
import { tryContainer } from "./try-container.ts";

const release = fileURLToPath(new URL("../../release/image", import.meta.url));
const begun = performance.now();
const report = (text: string) =>
  console.log(`${((performance.now() - begun) / 1000).toFixed(0).padStart(4)} s  ${text}`);

using containers = openContainers();
const { podman } = containers;

const base = baseOfDockerfile();
makeBaseImage(containers, base);
report(`${base} was made from Debian's packages and this checkout's Node`);

const [tag, again] = ["kibitz:first", "kibitz:second"] as const;
for (const each of [tag, again]) {
  buildImage(containers, each);
  report(`built: ${each}`);
}
const layers = layersOf(containers, tag);
const image = podman("image", "mount", tag);
if (JSON.stringify(layersOf(containers, again)) !== JSON.stringify(layers)) {
  const other = podman("image", "mount", again);
  const { stdout } = spawnSync("diff", ["--recursive", "--brief", "--no-dereference", image, other]);
  throw new Error(`two builds of the same sources differ:\n${stdout}(or in modes, times or owners alone)`);
}
assert.deepEqual(configOf(containers, again), configOf(containers, tag));
report(`both have the same layers, with SOURCE_DATE_EPOCH=${sourceDateEpoch()}`);

const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;
for (const { madeBy, bytes, digest } of layers) {
  console.log(`        ${megabytes(bytes).padStart(9)}  ${digest.slice(0, 19)}…  ${madeBy}`);
}
const size = layers.reduce((sum: number, { bytes }: Layer) => sum + bytes, 0);
console.log(`        ${megabytes(size).padStart(9)}  in all`);

const { readyMs, engines } = await tryContainer(containers, tag);
report(`answers, ${readyMs} ms after it was started, read-only, without a capability: ${engines.join(", ")}`);

const [, nodeVersion = ""] = /^node:([\d.]+)/.exec(base) ?? [];
const bill = billOfMaterials(image, nodeVersion);
const debian = bill.components.filter(({ purl }) => purl?.startsWith("pkg:deb/"));
assert.ok(debian.length >= 10, `only ${debian.length} packages of Debian`);
mkdirSync(release, { recursive: true });
writeFileSync(join(release, "kibitz-image.cdx.json"), `${JSON.stringify(bill, undefined, 2)}\n`);
writeFileSync(join(release, "layers.json"), `${JSON.stringify({ base, layers }, undefined, 2)}\n`);
report(
  `release/image/ has the bill of materials: ${bill.components.length} parts, ${debian.length} of them Debian's`,
);
assert.match(readFileSync(join(image, "etc/passwd"), "utf8"), /^kibitz:x:10001:/m);
