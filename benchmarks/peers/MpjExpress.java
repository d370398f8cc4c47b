import java.io.BufferedReader;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import mpi.Intracomm;
import mpi.MPI;

/** MPJ Express as a contestant; peer.h says what each step is for. Arguments, by its own starters: FOLDER. */
public final class MpjExpress {
    private static final int ROOT = 0;

    private final Intracomm world = MPI.COMM_WORLD;
    private final int rank = world.Rank();
    private final int ranks = world.Size();
    private String kind;
    private int count;
    private int part;
    private float[] in;
    private float[] out;

    private MpjExpress() throws Exception {}

    public static void main(String[] words) throws Exception {
        String[] rest = MPI.Init(words);
        new MpjExpress().serve(Path.of(rest[rest.length - 1]));
        MPI.Finalize();
    }

    private void serve(Path folder) throws Exception {
        BufferedReader commands = Files.newBufferedReader(folder.resolve("command." + rank));
        PrintStream answers =
                rank == ROOT ? new PrintStream(Files.newOutputStream(folder.resolve("answer")), true) : null;
        world.Barrier();
        if (answers != null) {
            answers.println("ready");
        }
        for (String line = commands.readLine(); line != null && !line.equals("quit"); line = commands.readLine()) {
            String[] words = line.split(" ");
            String answer = measure(
                    words[0],
                    Long.parseLong(words[1]),
                    Double.parseDouble(words[3]) * 1000,
                    Double.parseDouble(words[4]) * 1000,
                    words[5].equals("1"));
            if (answers != null) {
                answers.println(answer);
            }
        }
    }

    private String measure(String name, long bytes, double warmUpNanos, double timeNanos, boolean check)
            throws Exception {
        shape(name, bytes);
        double[] wrong = slowest(check ? wrongElements() : 0);
        Arrays.fill(in, 0);
        double callNanos = warmUp(warmUpNanos);
        int calls = (int) Math.max(1, Math.min(1000, 4e6 / callNanos));
        int blocks = (int) Math.max(5, Math.min(64, timeNanos / (calls * callNanos)));
        double[] micros = new double[blocks];
        for (int block = 0; block < blocks; block++) {
            micros[block] = block(calls) / calls / 1000;
        }
        micros = slowest(micros);
        Arrays.sort(micros);
        double p99 = micros[(int) Math.ceil(0.99 * blocks) - 1];
        return String.format(Locale.ROOT, "%.4f %.4f %.4f %.0f", micros[0], micros[blocks / 2], p99, wrong[0]);
    }

    private void shape(String name, long bytes) {
        boolean parts = switch (name) {
            case "allgather", "reducescatter", "gather", "scatter", "alltoall" -> true;
            default -> false;
        };
        int wanted = (int) (bytes / Float.BYTES);
        wanted = parts && wanted > 0 ? Math.max(ranks, wanted - wanted % ranks) : wanted;
        if (name.equals(kind) && wanted == count) {
            return;
        }
        kind = name;
        count = wanted;
        part = count / ranks;
        in = new float[name.equals("allgather") || name.equals("gather") ? part : count];
        out = new float[name.equals("reducescatter") || name.equals("scatter") ? part : count];
    }

    private void call() throws Exception {
        switch (kind) {
            case "allreduce" -> world.Allreduce(in, 0, out, 0, count, MPI.FLOAT, MPI.SUM);
            case "broadcast" -> world.Bcast(in, 0, count, MPI.FLOAT, ROOT);
            case "reduce" -> world.Reduce(in, 0, out, 0, count, MPI.FLOAT, MPI.SUM, ROOT);
            case "allgather" -> world.Allgather(in, 0, part, MPI.FLOAT, out, 0, part, MPI.FLOAT);
            case "reducescatter" -> {
                int[] counts = new int[ranks];
                Arrays.fill(counts, part);
                world.Reduce_scatter(in, 0, out, 0, counts, MPI.FLOAT, MPI.SUM);
            }
            case "gather" -> world.Gather(in, 0, part, MPI.FLOAT, out, 0, part, MPI.FLOAT, ROOT);
            case "scatter" -> world.Scatter(in, 0, part, MPI.FLOAT, out, 0, part, MPI.FLOAT, ROOT);
            case "alltoall" -> world.Alltoall(in, 0, part, MPI.FLOAT, out, 0, part, MPI.FLOAT);
            default -> world.Barrier();
        }
    }

    private void callOnFreshInput() throws Exception {
        boolean rooted = kind.equals("broadcast") || kind.equals("scatter");
        if (!kind.equals("allreduce") && !kind.equals("barrier") && (!rooted || rank == ROOT)) {
            Arrays.fill(in, 1);
        }
        call();
    }

    private static float input(int rank, int index) {
        return 2 + (index * 3L + rank * 2L) % 5;
    }

    private float expected(int i) {
        int mine = rank * part;
        switch (kind) {
            case "broadcast":
                return input(ROOT, i);
            case "allgather", "gather":
                return input(i / part, i % part);
            case "scatter":
                return input(ROOT, mine + i);
            case "alltoall":
                return input(i / part, mine + i % part);
            default:
                float sum = 0;
                for (int other = 0; other < ranks; other++) {
                    sum += input(other, kind.equals("reducescatter") ? mine + i : i);
                }
                return sum;
        }
    }

    private double wrongElements() throws Exception {
        for (int i = 0; i < in.length; i++) {
            in[i] = input(rank, i);
        }
        Arrays.fill(out, 0);
        call();
        world.Barrier();
        boolean none = kind.equals("barrier") || (kind.equals("reduce") || kind.equals("gather")) && rank != ROOT;
        float[] result = kind.equals("broadcast") ? in : out;
        double wrong = 0;
        for (int i = 0; i < result.length && !none; i++) {
            wrong += result[i] == expected(i) ? 0 : 1;
        }
        return wrong;
    }

    private double[] slowest(double... values) throws Exception {
        double[] most = new double[values.length];
        world.Allreduce(values, 0, most, 0, values.length, MPI.DOUBLE, MPI.MAX);
        return most;
    }

    private double warmUp(double nanos) throws Exception {
        double spent = 0;
        int calls = 1;
        while (true) {
            double batch = slowest(block(calls))[0];
            spent += batch;
            if (spent >= nanos) {
                return Math.max(1, batch / calls);
            }
            if (batch < nanos / 8) {
                calls *= 2;
            }
        }
    }

    private double block(int calls) throws Exception {
        world.Barrier();
        long start = System.nanoTime();
        for (int call = 0; call < calls; call++) {
            callOnFreshInput();
        }
        return System.nanoTime() - start;
    }
}
