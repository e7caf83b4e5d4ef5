/** The official release that `kibitz engines install` installs. */
export interface Release {
  /** The id that the engine gets in Kibitz. Equals the id of the WebAssembly build of the npm package `stockfish`. */
  readonly id: string;
  readonly name: string;
  /** The address of the archives, without their name. */
  readonly files: string;
  /** The document of the release, which has the digest of each archive. */
  readonly document: string;
  /** The hosts that may answer, also after a redirect, only over https. */
  readonly hosts: readonly string[];
  /** The builds by the platform and the architecture of Node. A build selects the instructions of the processor itself. */
  readonly builds: Readonly<Record<string, OfficialBuild>>;
  /** The oldest glibc on which the builds for Linux run. */
  readonly glibc: string;
}

export interface OfficialBuild {
  readonly archive: string;
  /** The only file that is taken out of the archive. */
  readonly member: string;
  /** The SHA-256 digest of the archive. Undefined if Kibitz does not know the digest. */
  readonly sha256?: string;
}

const macos: OfficialBuild = {
  archive: "stockfish-macos-universal.tar.gz",
  member: "stockfish/stockfish-macos-universal",
  sha256: "a1f0e3bcc5a6927a11fe6fc8e54a779754645f3c2bae2cf13420fd1957adaa77",
};

export const officialRelease: Release = {
  id: "stockfish-19",
  name: "Stockfish 19",
  files: "https://github.com/official-stockfish/Stockfish/releases/download/sf_19/",
  document: "https://api.github.com/repos/official-stockfish/Stockfish/releases/tags/sf_19",
  hosts: [
    "github.com",
    "api.github.com",
    "release-assets.githubusercontent.com",
    "objects.githubusercontent.com",
  ],
  glibc: "2.35",
  builds: {
    "linux-x64": {
      archive: "stockfish-linux-x86-64-universal.tar.gz",
      member: "stockfish/stockfish-linux-x86-64-universal",
      sha256: "9defc0d4e55d49c65a6d042f3e571a39fcea499ade6dbe741b53b8c65e03611f",
    },
    "linux-arm64": {
      archive: "stockfish-linux-arm64-universal.tar.gz",
      member: "stockfish/stockfish-linux-arm64-universal",
      sha256: "fe26cfd1d9db4c8af3d21e24d9ff34cacb31c1f940085a7583da11796f2bac01",
    },
    "linux-riscv64": {
      archive: "stockfish-linux-riscv64-universal.tar.gz",
      member: "stockfish/stockfish-linux-riscv64-universal",
    },
    "darwin-x64": macos,
    "darwin-arm64": macos,
  },
};
