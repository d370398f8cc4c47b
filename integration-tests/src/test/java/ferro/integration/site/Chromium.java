package ferro.integration.site;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.File;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

/** A browser without a screen, with one tab, which obeys commands of the DevTools protocol. */
final class Chromium implements AutoCloseable {
    private static final long TIMEOUT_SECONDS = 60;

    private final Process process;
    private final Path profile;
    private final AtomicInteger commands = new AtomicInteger();
    private final Map<Integer, CompletableFuture<JsonObject>> answers = new ConcurrentHashMap<>();
    private final List<JsonObject> events = new ArrayList<>();
    private WebSocket socket;
    private String session;

    private Chromium(Process process, Path profile) {
        this.process = process;
        this.profile = profile;
    }

    /** Starts the browser of this machine, and skips the test if there is none. The folder gets its profile and its log. */
    static Chromium start(Path folder) throws IOException, InterruptedException {
        Path log = folder.resolve("chromium.log");
        Process process = new ProcessBuilder(
                        executable(),
                        "--headless",
                        "--no-sandbox",
                        "--disable-gpu",
                        "--disable-quic",
                        "--no-first-run",
                        "--disable-background-networking",
                        "--disable-component-update",
                        "--disable-sync",
                        "--disable-dev-shm-usage",
                        "--hide-scrollbars",
                        "--remote-debugging-port=0",
                        "--user-data-dir=" + folder.resolve("profile"),
                        "about:blank")
                .redirectOutput(Redirect.DISCARD)
                .redirectError(log.toFile())
                .start();
        Chromium chromium = new Chromium(process, folder.resolve("profile"));
        try {
            chromium.attach();
            return chromium;
        } catch (IOException | InterruptedException | RuntimeException failed) {
            chromium.close();
            throw failed;
        }
    }

    private static String executable() {
        Optional<Path> found = Stream.of(System.getenv("PATH").split(File.pathSeparator))
                .flatMap(directory -> Stream.of("chromium", "chromium-browser", "google-chrome")
                        .map(name -> Path.of(directory, name)))
                .filter(Files::isExecutable)
                .findFirst();
        assumeTrue(found.isPresent(), "no Chromium in PATH, so that nobody has looked at the site: install chromium");
        return found.orElseThrow().toString();
    }

    private void attach() throws IOException, InterruptedException {
        socket = await(HttpClient.newHttpClient().newWebSocketBuilder().buildAsync(door(), new Listener()));
        JsonObject tab = new JsonObject();
        tab.addProperty("url", "about:blank");
        JsonObject target = new JsonObject();
        target.addProperty(
                "targetId", send("Target.createTarget", tab).get("targetId").getAsString());
        target.addProperty("flatten", true);
        session = send("Target.attachToTarget", target).get("sessionId").getAsString();
        for (String domain : List.of("Page", "Network", "Runtime", "Log")) {
            send(domain + ".enable", new JsonObject());
        }
    }

    /** Returns the address of the DevTools, which the browser writes into its profile as port and path. */
    private URI door() throws IOException, InterruptedException {
        Path file = profile.resolve("DevToolsActivePort");
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(TIMEOUT_SECONDS);
        while (System.nanoTime() < end && !process.waitFor(20, TimeUnit.MILLISECONDS)) {
            List<String> lines = Files.exists(file) ? Files.readAllLines(file) : List.of();
            if (lines.size() == 2) {
                return URI.create("ws://127.0.0.1:" + lines.get(0) + lines.get(1));
            }
        }
        throw new IOException("Chromium has opened no port within " + TIMEOUT_SECONDS + " s");
    }

    JsonObject send(String method, JsonObject parameters) throws IOException, InterruptedException {
        int id = commands.incrementAndGet();
        JsonObject command = new JsonObject();
        command.addProperty("id", id);
        command.addProperty("method", method);
        command.add("params", parameters);
        if (session != null) {
            command.addProperty("sessionId", session);
        }
        CompletableFuture<JsonObject> answer = new CompletableFuture<>();
        answers.put(id, answer);
        await(socket.sendText(command.toString(), true));
        JsonObject answered = await(answer);
        if (answered.has("error")) {
            throw new IOException(method + " failed: " + answered.get("error"));
        }
        return answered.getAsJsonObject("result");
    }

    /** Opens an address, waits until the page has loaded, and returns the events of the tab since then. */
    List<JsonObject> open(URI address) throws IOException, InterruptedException {
        synchronized (events) {
            events.clear();
        }
        JsonObject page = new JsonObject();
        page.addProperty("url", address.toString());
        send("Page.navigate", page);
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(TIMEOUT_SECONDS);
        synchronized (events) {
            while (events.stream().noneMatch(event -> isA(event, "Page.loadEventFired"))) {
                long left = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime());
                if (left <= 0) {
                    throw new IOException(address + " has not loaded within " + TIMEOUT_SECONDS + " s");
                }
                events.wait(left);
            }
        }
        return events();
    }

    List<JsonObject> events() {
        synchronized (events) {
            return List.copyOf(events);
        }
    }

    static boolean isA(JsonObject event, String method) {
        return method.equals(event.get("method").getAsString());
    }

    /** Runs the body of an asynchronous function in the page, and returns the text that it returns. */
    String run(String body) throws IOException, InterruptedException {
        JsonObject parameters = new JsonObject();
        parameters.addProperty("expression", "(async () => {" + body + "})()");
        parameters.addProperty("awaitPromise", true);
        parameters.addProperty("returnByValue", true);
        JsonObject result = send("Runtime.evaluate", parameters);
        if (result.has("exceptionDetails")) {
            throw new IOException("a script failed: " + result.get("exceptionDetails"));
        }
        return result.getAsJsonObject("result").get("value").getAsString();
    }

    private <T> T await(CompletableFuture<T> future) throws IOException, InterruptedException {
        try {
            return future.get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
        } catch (ExecutionException | TimeoutException failed) {
            throw new IOException("Chromium does not answer, alive: " + process.isAlive(), failed);
        }
    }

    @Override
    public void close() {
        if (socket != null) {
            socket.abort();
        }
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly().onExit().join();
    }

    /** Hands each message to who waits for it. */
    private final class Listener implements WebSocket.Listener {
        private final StringBuilder text = new StringBuilder();

        @Override
        public CompletionStage<?> onText(WebSocket from, CharSequence part, boolean last) {
            text.append(part);
            if (last) {
                JsonObject message = JsonParser.parseString(text.toString()).getAsJsonObject();
                text.setLength(0);
                accept(message);
            }
            from.request(1);
            return null;
        }

        private void accept(JsonObject message) {
            if (message.has("id")) {
                answers.remove(message.get("id").getAsInt()).complete(message);
                return;
            }
            synchronized (events) {
                events.add(message);
                events.notifyAll();
            }
        }
    }
}
