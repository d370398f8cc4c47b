package ferro.benchmarks;

import ferro.DataType;
import ferro.ReduceOp;
import ferro.backend.simulated.SimulatedBackend;
import ferro.group.Groups;
import ferro.group.ProcessGroup;
import ferro.group.SystemContext;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * The program of one rank of a comparison. The program waits for a request, measures, answers and waits again. So the
 * code of several libraries stays compiled. The libraries measure in turns, and only one library measures at a time.
 *
 * <p>Every rank reads requests from the pipe {@code command.RANK} of a folder. Rank 0 answers on the pipe
 * {@code answer}.
 */
public final class BenchServer {
    private static final String QUIT = "quit";
    /** The largest size in bytes that a comparison requests. */
    private static final long SHARED_BYTES = 64L << 20;

    private final ProcessGroup group;
    private final PrintStream answers;
    private BenchRequest last;
    private MeasuredOperation operation;
    private MeasuredMemory shared;

    private BenchServer(ProcessGroup group, PrintStream answers) {
        this.group = group;
        this.answers = answers;
    }

    /**
     * Serves requests until the request to quit. The ranks belong to the group that the environment describes, or are
     * simulated ranks in threads of this process.
     *
     * @param words the folder of the pipes, and optionally the number of simulated ranks
     * @throws Exception if the pipes cannot be read or written
     */
    public static void main(String[] words) throws Exception {
        Path folder = Path.of(words[0]);
        if (words.length > 1) {
            serveInThreads(Integer.parseInt(words[1]), folder);
            return;
        }
        try (ProcessGroup group = ProcessGroup.join()) {
            serve(group, folder);
        }
    }

    private static void serveInThreads(int ranks, Path folder) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(ranks);
        List<Future<?>> serving = new ArrayList<>();
        for (SimulatedBackend backend : SimulatedBackend.createGroup(ranks)) {
            serving.add(threads.submit(() -> {
                try (SystemContext context = SystemContext.of(Map.of());
                        ProcessGroup group = Groups.of(backend, context)) {
                    serve(group, folder);
                }
                return null;
            }));
        }
        threads.shutdown();
        for (Future<?> rank : serving) {
            rank.get();
        }
    }

    static void serve(ProcessGroup group, Path folder) throws IOException {
        boolean first = group.rank() == 0;
        try (BufferedReader requests = Files.newBufferedReader(folder.resolve("command." + group.rank()));
                PrintStream answers = first ? open(folder.resolve("answer")) : null) {
            BenchServer bench = new BenchServer(group, answers);
            group.barrier();
            bench.answer("ready");
            for (String line = requests.readLine(); line != null && !line.equals(QUIT); line = requests.readLine()) {
                bench.answer(bench.measure(BenchRequest.parse(line)));
            }
            bench.forget();
        }
    }

    private static PrintStream open(Path answers) throws IOException {
        return new PrintStream(Files.newOutputStream(answers), true, StandardCharsets.UTF_8);
    }

    private void answer(String line) {
        if (answers != null) {
            answers.println(line);
        }
    }

    private String measure(BenchRequest request) {
        if (operation == null || !request.sameTensors(last)) {
            forget();
            operation = new MeasuredOperation(group, place(request.memory()), request.sweep(), request.bytes());
            last = request;
        }
        long[] wrong = {request.check() ? operation.wrongElements() : 0};
        group.allReduce(wrong, ReduceOp.SUM);
        operation.clear();
        boolean fresh = request.collective().readsInput(true);
        Stopwatch.CallTimes times =
                new Stopwatch(group, request.pace()).time(fresh ? operation::runOnFreshInput : operation::run);
        times = times.dividedBy(request.collective().timesPerCall());
        return String.format(Locale.ROOT, "%.4f %.4f %.4f %d", times.min(), times.median(), times.p99(), wrong[0]);
    }

    private MeasuredMemory place(String memory) {
        if (memory.equals("host")) {
            return new MeasuredMemory.ArrayMemory();
        }
        if (shared == null) {
            shared = new MeasuredMemory.GroupMemory(group, DataType.FLOAT32, SHARED_BYTES, 2);
        }
        return shared;
    }

    private void forget() {
        if (operation != null) {
            operation.close();
            operation = null;
        }
    }
}
