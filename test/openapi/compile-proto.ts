import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { createFileRegistry, type DescService, fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Compiles the text as the proto file `made/v1/up.proto` in an empty folder, and returns the services of the file. */
export function compileProto(folder: string, text: string): readonly DescService[] {
  const file = join(folder, "proto", "made", "v1", "up.proto");
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  // A workspace of buf cannot read files outside its folder.
  cpSync(join(root, "proto/kibitz"), join(folder, "proto/kibitz"), { recursive: true });
  cpSync(join(root, "third_party"), join(folder, "third_party"), { recursive: true });
  const modules = [{ path: "proto" }, { path: "third_party" }];
  writeFileSync(join(folder, "buf.yaml"), JSON.stringify({ version: "v2", modules }));
  const args = ["build", ".", "--path", "proto/made", "-o", "-#format=binpb"];
  const image = execFileSync(buf, args, { cwd: folder, stdio: ["ignore", "pipe", "inherit"] });
  const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, image));
  return [...registry.files].flatMap(({ services }) => services);
}

const buf = join(root, "node_modules", ".bin", "buf");
