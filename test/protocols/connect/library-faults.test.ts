import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import manifest from "../../../package.json" with { type: "json" };
import { faultsOfConnect } from "./faults/connect.ts";
import { faultsOfConnectNode } from "./faults/connect-node.ts";
import { faultsOfProtobuf, faultsOfProtovalidate } from "./faults/protobuf.ts";

/** Libraries with bugs for which `src` has workarounds. The bugs were found in these versions. */
const libraries = [
  { library: "@connectrpc/connect", version: "2.2.0", faults: faultsOfConnect },
  { library: "@connectrpc/connect-node", version: "2.2.0", faults: faultsOfConnectNode },
  { library: "@bufbuild/protobuf", version: "2.17.0", faults: faultsOfProtobuf },
  { library: "@bufbuild/protovalidate", version: "1.3.0", faults: faultsOfProtovalidate },
];

describe.each(libraries)("$library $version", ({ library, version, faults }) => {
  test(`${library} is installed in version ${version}: after an upgrade, check its workarounds, then change the version here`, () => {
    expect(manifest.dependencies).toHaveProperty([library], version);
    const installed = new URL(`../../../node_modules/${library}/package.json`, import.meta.url);
    expect(JSON.parse(readFileSync(installed, "utf8"))).toMatchObject({ name: library, version });
  });

  test.each(Object.keys(faults))(
    `${library} without Kibitz's workarounds still has the bug: %s`,
    async (name) => {
      try {
        await faults[name]?.();
      } catch (cause) {
        throw new Error(`${library} seems to be fixed: remove the workaround and this test`, { cause });
      }
    },
  );
});
