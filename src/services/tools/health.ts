import { type EventEmitter, once } from "node:events";
import type { DescService, MessageInitShape } from "@bufbuild/protobuf";
import {
  Health,
  type HealthCheckRequest,
  type HealthCheckResponseSchema,
  HealthCheckResponse_ServingStatus as Status,
} from "../../../gen/grpc/health/v1/health_pb.ts";
import type { Implementation, MethodContext } from "../../calls/invoke.ts";
import { KibitzError } from "../../errors/errors.ts";
import type { RequestContext } from "../../request/context.ts";
import { echo } from "../../text/plain-text.ts";
import { atMost } from "./at-most.ts";

export interface HealthOptions {
  /** Whose health is told. They are one server's, so it is one health. */
  readonly services: readonly DescService[];
  /** Whether calls of these services would be answered: what `/readyz` says. */
  ready(): boolean;
  /** Whether the server is stopping. */
  draining(): boolean;
  /** Emits `change` when one of these has changed. */
  readonly changes: EventEmitter<{ change: [] }>;
  /** The address that a caller is known by. */
  readonly addressOf: (request: RequestContext) => string;
}

/** Each costs up to 60 kB for as long as it likes. A client has one for each channel. */
const watchers = { inAll: 1000, perAddress: 100 };

/** gRPC's health check: of each service, and of the server under the empty name. */
export function createHealth(options: HealthOptions): Implementation<typeof Health> {
  const { services, ready, draining, changes, addressOf } = options;
  const names = ["", ...services.map(({ typeName }) => typeName)];
  const status = () => (ready() ? Status.SERVING : Status.NOT_SERVING);

  async function* watch(
    { service }: HealthCheckRequest,
    { signal }: Pick<MethodContext, "signal">,
  ): AsyncGenerator<MessageInitShape<typeof HealthCheckResponseSchema>> {
    const isKnown = names.includes(service);
    let told: Status | undefined;
    for (;;) {
      const current = isKnown ? status() : Status.SERVICE_UNKNOWN;
      if (current !== told) {
        told = current;
        // The reader may take its time: what has changed meanwhile is seen in the next round.
        yield { status: current };
      } else if (draining()) {
        // The protocol lets a server end the call, and its caller asks again: elsewhere.
        return;
      } else {
        signal.throwIfAborted();
        // Ends without a change where the caller leaves.
        await once(changes, "change", { signal }).catch(() => {});
      }
    }
  }

  return {
    service: Health,
    methods: {
      check({ service }) {
        if (!names.includes(service)) {
          throw new KibitzError("not_found", `There is no service "${echo(service)}" here.`);
        }
        return { status: status() };
      },
      list() {
        return { statuses: Object.fromEntries(names.map((name) => [name, { status: status() }])) };
      },
      watch: atMost({ ...watchers, addressOf }, watch),
    },
  };
}
