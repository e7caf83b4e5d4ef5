import { type EventEmitter, once } from "node:events";
import type { DescService, MessageInitShape } from "@bufbuild/protobuf";
import {
  Health,
  type HealthCheckRequest,
  type HealthCheckResponseSchema,
  HealthCheckResponse_ServingStatus as Status,
} from "../../../gen/grpc/health/v1/health_pb.ts";
import type { Call, Implementation } from "../../calls/call.ts";
import { KibitzError } from "../../errors/errors.ts";
import type { RequestContext } from "../../request/context.ts";
import { echo } from "../../text/echo.ts";
import { limitStreams } from "./limit-streams.ts";

export interface HealthOptions {
  /** All services have the same status, because they run in one server. */
  readonly services: readonly DescService[];
  /** True if the server accepts calls, like `GET /readyz`. */
  ready(): boolean;
  draining(): boolean;
  readonly changes: EventEmitter<{ change: [] }>;
  readonly addressOf: (request: RequestContext) => string;
}

/** The maximum numbers of open health streams. A stream uses up to 60 kB, and a client opens one stream for each channel. */
const watcherLimits = { inAll: 1000, perAddress: 100 };

/** An empty service name in a request means the server itself. */
export function createHealth(options: HealthOptions): Implementation<typeof Health> {
  const { services, ready, draining, changes, addressOf } = options;
  const names = ["", ...services.map(({ typeName }) => typeName)];
  const status = () => (ready() ? Status.SERVING : Status.NOT_SERVING);

  async function* watch(
    { service }: HealthCheckRequest,
    { signal }: Pick<Call, "signal">,
  ): AsyncGenerator<MessageInitShape<typeof HealthCheckResponseSchema>> {
    const isKnown = names.includes(service);
    let sent: Status | undefined;
    for (;;) {
      const current = isKnown ? status() : Status.SERVICE_UNKNOWN;
      if (current !== sent) {
        sent = current;
        // Continue without waiting for a change: the status may have changed while the client was not reading.
        yield { status: current };
      } else if (draining()) {
        // End the stream, so that the client connects to another server. The health protocol allows this.
        return;
      } else {
        signal.throwIfAborted();
        // Ignore the rejection: if the client disconnects, the next iteration throws the abort reason.
        await once(changes, "change", { signal }).catch(() => {});
      }
    }
  }

  return {
    service: Health,
    methods: {
      async check({ service }) {
        if (!names.includes(service)) {
          throw new KibitzError("not_found", `There is no service ${echo(service, '"')} here.`);
        }
        return { status: status() };
      },
      async list() {
        return { statuses: Object.fromEntries(names.map((name) => [name, { status: status() }])) };
      },
      watch: limitStreams({ ...watcherLimits, addressOf }, watch),
    },
  };
}
