package ferro.integration.site;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.Stream;

/** The files of a folder, served on a loopback port that the system chooses. */
final class Folder implements AutoCloseable {
    private static final Map<String, String> TYPES = Map.of(
            "html", "text/html; charset=utf-8",
            "js", "text/javascript; charset=utf-8",
            "css", "text/css; charset=utf-8",
            "svg", "image/svg+xml",
            "png", "image/png",
            "woff2", "font/woff2");

    private final Path root;
    private final HttpServer server;
    private final ExecutorService threads = Executors.newFixedThreadPool(4);

    private Folder(Path root, HttpServer server) {
        this.root = root;
        this.server = server;
    }

    static Folder serve(Path root) throws IOException {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        Folder folder = new Folder(root.toAbsolutePath().normalize(), server);
        server.createContext("/", folder::answer);
        server.setExecutor(folder.threads);
        server.start();
        return folder;
    }

    URI address(String path) {
        return URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/" + path);
    }

    List<String> endingWith(String end) throws IOException {
        try (Stream<Path> files = Files.walk(root)) {
            return files.map(file -> root.relativize(file).toString().replace('\\', '/'))
                    .filter(file -> file.endsWith(end))
                    .sorted()
                    .toList();
        }
    }

    Path file(String path) {
        return root.resolve(path);
    }

    private void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            String path = exchange.getRequestURI().getPath().substring(1);
            Path file = root.resolve(path.isEmpty() || path.endsWith("/") ? path + "index.html" : path);
            if (!file.normalize().startsWith(root) || !Files.isRegularFile(file)) {
                exchange.sendResponseHeaders(404, -1);
                return;
            }
            String end = path.substring(path.lastIndexOf('.') + 1);
            exchange.getResponseHeaders().set("Content-Type", TYPES.getOrDefault(end, TYPES.get("html")));
            exchange.sendResponseHeaders(200, 0);
            Files.copy(file, exchange.getResponseBody());
        }
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }
}
