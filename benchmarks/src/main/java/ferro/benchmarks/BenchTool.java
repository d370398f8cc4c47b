package ferro.benchmarks;

import ferro.spi.JobTool;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code ferro bench}: times one collective over several sizes, checks every result, and prints a table. */
@Command(
        name = "bench",
        description = "Times a collective over several sizes, after checking its result against a plain loop.",
        footer = {
            "",
            "Columns are those of nccl-tests; time is the median, over blocks of calls, of the slowest rank's time for one"
                    + " call. Example: ferro bench allreduce -n 2 --backend tcp --sizes 4,1024,1MiB"
        })
public final class BenchTool implements JobTool {
    @Parameters(
            paramLabel = "COLLECTIVE",
            completionCandidates = Collectives.class,
            description =
                    "one of: ${COMPLETION-CANDIDATES}; with --compare, --tune or --predict also all; or overlap: how"
                            + " much of a training step's communication hides behind computing")
    private String collective;

    @Option(names = "--sizes", paramLabel = "LIST", description = "sizes in bytes, for example 4,1024,64KiB,1MiB")
    private String sizes;

    @Option(
            names = "--type",
            paramLabel = "TYPE",
            completionCandidates = Types.class,
            description = "one of: ${COMPLETION-CANDIDATES} (default: f32)")
    private String type;

    @Option(
            names = "--op",
            paramLabel = "OP",
            completionCandidates = Ops.class,
            description = "one of: ${COMPLETION-CANDIDATES} (default: sum)")
    private String op;

    @Option(
            names = "--time",
            paramLabel = "TIME",
            description = "how long to measure each size (default: 250ms), after a warm-up of six times as long for the"
                    + " first, at most 1.5s, and as long for the others, at most 200ms")
    private String time;

    @Option(
            names = "--queued",
            paramLabel = "COUNT",
            description =
                    "queue so many operations before the first is waited for, on tensors of their own (default: 1)")
    private String queued;

    @Option(
            names = "--memory",
            paramLabel = "PLACE",
            description = "where the tensors are: heap, arrays of Java (default), or shared, memory of group.allocate,"
                    + " which ranks of one host share")
    private String memory;

    @Option(names = "--json", description = "print one JSON object per line")
    private boolean json;

    @Option(
            names = "--compare",
            description = "run it in turns with every other library that is installed (benchmarks/compare.sh)")
    private boolean compare;

    @Option(
            names = "--tune",
            description = "measure the algorithms, and write a table of the fastest for ferro.algorithm.table")
    private boolean tune;

    @Option(
            names = "--predict",
            description =
                    "predict how long it takes by its plan and what TCP links cost at this moment, and measure it as well")
    private boolean predict;

    @Mixin
    private OverlapOptions overlap = new OverlapOptions();

    /** The collectives that can be measured, for the help text. */
    private static final class Collectives extends ArrayList<String> {
        private static final long serialVersionUID = 1L;

        Collectives() {
            super(Measured.labels());
        }
    }

    /** Element types, for the help text. */
    private static final class Types extends ArrayList<String> {
        private static final long serialVersionUID = 1L;

        Types() {
            super(Sweep.types());
        }
    }

    /** Operations, for the help text. */
    private static final class Ops extends ArrayList<String> {
        private static final long serialVersionUID = 1L;

        Ops() {
            super(Sweep.ops());
        }
    }

    /** Makes a tool whose options are not filled in yet. */
    public BenchTool() {}

    @Override
    public String name() {
        return "bench";
    }

    @Override
    public boolean startsRanks() {
        if (predict && (compare || tune)) {
            throw new IllegalArgumentException(
                    "--predict with " + (compare ? "--compare" : "--tune") + ": ask for one of them at a time");
        }
        return !compare && !tune;
    }

    private boolean isOverlap() {
        return collective.equals(OverlapRequest.NAME);
    }

    private RankProgram overlapProgram(ToolRequest request) {
        List<String> refused = measuringWords();
        if (predict || !refused.isEmpty()) {
            throw new IllegalArgumentException("bench overlap averages f32 and times each part of a step: it takes "
                    + String.join(", ", OverlapOptions.names()) + " and --json, found "
                    + (predict ? "--predict" : String.join(" ", refused)));
        }
        List<String> words = overlap.words();
        if (json) {
            words.add("--json");
        }
        OverlapRequest.parse(words).checkRanks(request.worldSize());
        return new RankProgram(OverlapBench.class.getName(), words, List.of());
    }

    @Override
    public RankProgram program(ToolRequest request) {
        if (isOverlap()) {
            return overlapProgram(request);
        }
        overlap.refuseFor(collective);
        List<String> words = words();
        if (predict) {
            Prediction.parse(words).checkRanks(request.worldSize());
            checkLinks(request);
            // the model simulates plans, and links run plans
            return new RankProgram(PredictBench.class.getName(), words, List.of("-Dferro.links=tcp"));
        }
        Sweep.parse(words).checkRanks(request.worldSize());
        return new RankProgram(CollectiveBench.class.getName(), words, List.of());
    }

    private static void checkLinks(ToolRequest request) {
        if (!request.links().orElse("tcp").equals("tcp")) {
            throw new IllegalArgumentException("--links " + request.links().get()
                    + " with --predict, which plays what links do over TCP: leave --links out");
        }
    }

    private List<String> words() {
        List<String> words = new ArrayList<>(List.of(collective));
        words.addAll(measuringWords());
        if (json) {
            words.add("--json");
        }
        return words;
    }

    private List<String> measuringWords() {
        List<String> words = new ArrayList<>();
        add(words, "--sizes", sizes);
        add(words, "--type", type);
        add(words, "--op", op);
        add(words, "--time", time);
        add(words, "--queued", queued);
        add(words, "--memory", memory);
        return words;
    }

    static void add(List<String> words, String option, String value) {
        if (value != null) {
            words.addAll(List.of(option, value));
        }
    }

    @Override
    public List<String> command(ToolRequest request) {
        overlap.refuseFor("--compare or --tune");
        List<String> refused = new ArrayList<>();
        add(refused, "--type", type);
        add(refused, "--op", op);
        add(refused, "--queued", queued);
        add(refused, "--memory", memory);
        add(refused, "--links", request.links().orElse(null));
        if (!refused.isEmpty()) {
            throw new IllegalArgumentException(
                    "--compare and --tune measure f32 by sum, over every kind of links: they take -n, --sizes and --time"
                            + " only, found " + String.join(" ", refused));
        }
        Path script = request.checkout().orElse(Path.of(".")).resolve("benchmarks/compare.sh");
        if (!Files.isExecutable(script)) {
            throw new IllegalArgumentException(
                    "--compare and --tune need a checkout of ferro: " + script + " not found");
        }
        List<String> command = new ArrayList<>(List.of(script.toString()));
        if (tune) {
            command.add("--tune");
        }
        add(command, "--collectives", collective);
        add(command, "--ranks", "" + request.worldSize());
        add(command, "--sizes", sizes);
        add(command, "--time", time);
        return command;
    }
}
