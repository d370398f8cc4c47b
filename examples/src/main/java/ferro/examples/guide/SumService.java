package ferro.examples.guide;

import com.sun.net.httpserver.HttpServer;
import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** A web server on rank 0 that lets all ranks compute. */
final class SumService {
    public static void main(String[] arguments) throws Exception {
        try (ProcessGroup joined = ProcessGroup.join()) {
            ProcessGroup group = joined.within(Duration.ofDays(365)); // the next request may come late
            if (group.rank() == 0) {
                serve(group);
            } else {
                while (sumUpTo(group, 0) >= 0) {} // waits for a request, computes its part, waits again
            }
        }
    }

    /** Runs on all ranks. Rank 0 gives the number, the others get it. A negative number ends the service. */
    private static long sumUpTo(ProcessGroup group, long number) {
        long[] request = {number};
        group.broadcast(request, 0);
        long[] sum = {Math.min(request[0], 0)};
        for (long i = group.rank() + 1; i <= request[0]; i += group.worldSize()) {
            sum[0] += i;
        }
        group.allReduce(sum, ReduceOp.SUM);
        return sum[0];
    }

    private static void serve(ProcessGroup group) throws Exception {
        ExecutorService calls = Executors.newSingleThreadExecutor(); // one thread makes all calls of the group
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
        server.createContext("/sum", exchange -> {
            long number = Long.parseLong(exchange.getRequestURI().getQuery());
            long sum = CompletableFuture.supplyAsync(() -> sumUpTo(group, number), calls)
                    .join();
            byte[] answer = String.valueOf(sum).getBytes();
            exchange.sendResponseHeaders(200, answer.length);
            exchange.getResponseBody().write(answer);
            exchange.close();
        });
        server.start();
        URI uri = URI.create("http:/" + server.getAddress() + "/sum?1000"); // a browser would ask this
        String answer = HttpClient.newHttpClient()
                .send(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofString())
                .body();
        System.out.println("the sum up to 1000 is " + answer);
        server.stop(0);
        calls.submit(() -> sumUpTo(group, -1)).get(); // ends the loops of the other ranks
        calls.shutdown();
    }
}
