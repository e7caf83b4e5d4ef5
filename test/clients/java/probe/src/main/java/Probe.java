import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.concurrent.TimeUnit.MILLISECONDS;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import com.google.gson.JsonPrimitive;
import com.google.protobuf.Any;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import com.google.protobuf.TypeRegistry;
import com.google.protobuf.util.JsonFormat;
import com.google.rpc.ErrorDetailsProto;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.PrototypeMarshaller;
import io.grpc.Status;
import io.grpc.protobuf.StatusProto;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.URI;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import kibitz.chess.analysis.v1.AnalysisServiceGrpc;
import kibitz.chess.analysis.v1.KeyServiceGrpc;
import kibitz.chess.analysis.v1.Problem;

/** Reads calls from stdin, a JSON object a line, makes them with grpc-java, and writes what came of each. */
public final class Probe {
  private static final JsonFormat.Printer PRINTER =
      JsonFormat.printer()
          .omittingInsignificantWhitespace()
          .usingTypeRegistry(
              TypeRegistry.newBuilder()
                  .add(ErrorDetailsProto.getDescriptor().getMessageTypes())
                  .add(Problem.getDescriptor())
                  .build());

  private final Channel channel;
  private final Map<String, MethodDescriptor<Message, Message>> methods = new HashMap<>();
  private final ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor();

  public static void main(String[] args) throws Exception {
    var address = URI.create(args[0]).getAuthority();
    var channel = Grpc.newChannelBuilder(address, InsecureChannelCredentials.create()).build();
    var probe = new Probe(channel);
    var commands = new BufferedReader(new InputStreamReader(System.in, UTF_8));
    try {
      for (var line = commands.readLine(); line != null; line = commands.readLine()) {
        var result = probe.call(JsonParser.parseString(line).getAsJsonObject());
        System.out.write((result + "\n").getBytes(UTF_8));
        System.out.flush();
      }
    } finally {
      probe.clock.shutdownNow();
      channel.shutdownNow();
    }
  }

  @SuppressWarnings("unchecked") // Every call of these services takes and gives a message.
  private Probe(Channel channel) {
    this.channel = channel;
    for (var service :
        new io.grpc.ServiceDescriptor[] {
          AnalysisServiceGrpc.getServiceDescriptor(), KeyServiceGrpc.getServiceDescriptor()
        }) {
      for (var method : service.getMethods()) {
        methods.put(method.getBareMethodName(), (MethodDescriptor<Message, Message>) method);
      }
    }
  }

  private JsonObject call(JsonObject command) throws Exception {
    var method = methods.get(command.get("method").getAsString());
    var start = System.nanoTime();
    var call = channel.newCall(method, optionsOf(command));
    var listener = new Listener(call, numberOf(command, "cancel_after_messages"));
    call.start(listener, metadataOf(command));
    call.request(1);
    call.sendMessage(requestOf(command, method));
    call.halfClose();
    var cancelAfterMs = numberOf(command, "cancel_after_ms");
    if (cancelAfterMs > 0) {
      clock.schedule(() -> call.cancel("enough", null), cancelAfterMs, MILLISECONDS);
    }
    var result = listener.result.get();
    result.addProperty("elapsed_ms", (System.nanoTime() - start) / 1_000_000);
    return result;
  }

  private static CallOptions optionsOf(JsonObject command) {
    var options = CallOptions.DEFAULT;
    var deadlineMs = numberOf(command, "deadline_ms");
    if (deadlineMs > 0) {
      options = options.withDeadlineAfter(deadlineMs, MILLISECONDS);
    }
    return command.has("compress") && command.get("compress").getAsBoolean()
        ? options.withCompression("gzip")
        : options;
  }

  private static Metadata metadataOf(JsonObject command) {
    var metadata = new Metadata();
    if (command.has("metadata")) {
      command
          .getAsJsonObject("metadata")
          .asMap()
          .forEach((name, value) -> metadata.put(asciiKey(name), value.getAsString()));
    }
    return metadata;
  }

  private static Message requestOf(JsonObject command, MethodDescriptor<Message, Message> method)
      throws InvalidProtocolBufferException {
    var prototype =
        (Message) ((PrototypeMarshaller<Message>) method.getRequestMarshaller()).getMessagePrototype();
    var builder = prototype.newBuilderForType();
    JsonFormat.parser().merge(command.get("request").toString(), builder);
    return builder.build();
  }

  private static int numberOf(JsonObject command, String name) {
    return command.has(name) ? command.get(name).getAsInt() : 0;
  }

  private static Metadata.Key<String> asciiKey(String name) {
    return Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER);
  }

  /** Collects all that a client can see of a call. */
  private static final class Listener extends ClientCall.Listener<Message> {
    private final CompletableFuture<JsonObject> result = new CompletableFuture<>();
    private final ClientCall<Message, Message> call;
    private final int cancelAfterMessages;
    private final JsonArray messages = new JsonArray();
    private Metadata headers = new Metadata();

    private Listener(ClientCall<Message, Message> call, int cancelAfterMessages) {
      this.call = call;
      this.cancelAfterMessages = cancelAfterMessages;
    }

    @Override
    public void onHeaders(Metadata headers) {
      this.headers = headers;
    }

    @Override
    public void onMessage(Message message) {
      messages.add(jsonOf(message));
      if (messages.size() == cancelAfterMessages) {
        call.cancel("enough", null);
      }
      call.request(1);
    }

    @Override
    public void onClose(Status status, Metadata trailers) {
      var json = new JsonObject();
      json.addProperty("code", status.getCode().name());
      json.addProperty("message", status.getDescription() == null ? "" : status.getDescription());
      json.add("details", detailsOf(status, trailers));
      json.add("headers", jsonOf(headers));
      json.add("trailers", jsonOf(trailers));
      json.add("messages", messages);
      var encoding = headers.get(asciiKey("grpc-encoding"));
      json.add("response_encoding", encoding == null ? JsonNull.INSTANCE : new JsonPrimitive(encoding));
      result.complete(json);
    }
  }

  private static JsonArray detailsOf(Status status, Metadata trailers) {
    var details = new JsonArray();
    for (Any detail :
        StatusProto.fromThrowable(status.asRuntimeException(trailers)).getDetailsList()) {
      var value = jsonOf(detail).getAsJsonObject();
      var type = value.remove("@type").getAsString();
      var json = new JsonObject();
      json.addProperty("type", type.substring(type.lastIndexOf('/') + 1));
      json.add("value", value);
      details.add(json);
    }
    return details;
  }

  private static JsonObject jsonOf(Metadata metadata) {
    var json = new JsonObject();
    for (var name : metadata.keys()) {
      if (name.endsWith(Metadata.BINARY_HEADER_SUFFIX)) {
        var bytes = metadata.get(Metadata.Key.of(name, Metadata.BINARY_BYTE_MARSHALLER));
        json.addProperty(name, Base64.getEncoder().encodeToString(bytes));
      } else {
        json.addProperty(name, String.join(", ", metadata.getAll(asciiKey(name))));
      }
    }
    return json;
  }

  private static JsonElement jsonOf(Message message) {
    try {
      return JsonParser.parseString(PRINTER.print(message));
    } catch (InvalidProtocolBufferException error) {
      throw new IllegalStateException(error);
    }
  }
}
