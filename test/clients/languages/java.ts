import { rm } from "node:fs/promises";
import { join } from "node:path";
import { buildOnce, copySources } from "../../support/build-once.ts";
import type { Language } from "../language.ts";
import { placeOf } from "../places.ts";
import { runProgram } from "../run-program.ts";

const place = placeOf("java");
const cwd = place.example;

export const java: Language = {
  name: "java",

  needs: ["jdk", "maven"],

  build: () =>
    buildOnce(place.folder, async (folder) => {
      await copySources(place, folder);
      // The probe uses the code of the example, so Maven builds both together.
      await runProgram(["mvn", "--batch-mode", "--no-transfer-progress", "package"], {
        cwd: join(folder, "test/clients/java"),
      });
      // Delete buf and protoc, which take 100 MB.
      await rm(join(folder, "examples/java/target/tools"), { recursive: true });
    }),

  examples: [
    { name: "java: grpc-java", command: ["java", "-jar", join(cwd, "target/kibitz-example.jar")], cwd },
  ],

  probes: [
    { name: "java-grpc", command: ["java", "-jar", join(place.probe, "probe/target/probe.jar")], cwd },
  ],
};
