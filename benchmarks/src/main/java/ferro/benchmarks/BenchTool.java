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

/** The tool {@code ferro bench}, which times a collective over several sizes, checks results, and prints a table. */
@Command(
        name = "bench",
        description =
                "Checks the result of a collective against a plain loop, and measures its time for several sizes.",
        footer = {
            "",
            "The columns are those of nccl-tests. The time is that of one call on the slowest rank, the median of all"
                    + " blocks of calls. Example: ferro bench allreduce -n 2 --links tcp --sizes 4,1024,1MiB"
        })
public final class BenchTool implements JobTool {
    @Parameters(
            paramLabel = "COLLECTIVE",
            completionCandidates = CollectiveNames.class,
            description = "one of: ${COMPLETION-CANDIDATES}; with --compare also all; or overlap, which measures how"
                    + " much communication of a training step overlaps with computing")
    private String collective;

    @Option(names = "--sizes", paramLabel = "LIST", description = "sizes in bytes, for example 4,1024,64KiB,1MiB")
    private String sizes;

    @Option(
            names = "--type",
            paramLabel = "TYPE",
            completionCandidates = TypeNames.class,
            description = "one of: ${COMPLETION-CANDIDATES} (default: f32)")
    private String type;

    @Option(
            names = "--op",
            paramLabel = "OP",
            completionCandidates = OpNames.class,
            description = "one of: ${COMPLETION-CANDIDATES} (default: sum)")
    private String op;

    @Option(
            names = "--time",
            paramLabel = "TIME",
            description =
                    "time to measure each size (default: 250ms). The warm-up of the first size takes six times as long,"
                            + " at most 1.5s; the warm-up of another size takes as long, at most 200ms")
    private String time;

    @Option(
            names = "--queued",
            paramLabel = "COUNT",
            description =
                    "number of operations to queue before waiting for the first; each has its own tensors (default: 1)")
    private String queued;

    @Option(
            names = "--memory",
            paramLabel = "PLACE",
            description =
                    "memory of the tensors: heap (default) for Java arrays, or shared for memory of group.allocate,"
                            + " which the ranks of one host share")
    private String memory;

    @Option(names = "--json", description = "print one JSON object per line")
    private boolean json;

    @Option(
            names = "--compare",
            description =
                    "run the collective alternately with each other library that is installed; needs a checkout (benchmarks/compare.sh)")
    private boolean compare;

    @Mixin
    private OverlapOptions overlap = new OverlapOptions();

    /** The names of the collectives that can be measured, for the help text. */
    private static final class CollectiveNames extends ArrayList<String> {
        private static final long serialVersionUID = 1L;

        CollectiveNames() {
            super(BenchOperation.labels());
        }
    }

    /** The names of the element types, for the help text. */
    private static final class TypeNames extends ArrayList<String> {
        private static final long serialVersionUID = 1L;

        TypeNames() {
            super(Sweep.types());
        }
    }

    /** The names of the operations, for the help text. */
    private static final class OpNames extends ArrayList<String> {
        private static final long serialVersionUID = 1L;

        OpNames() {
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
        return !compare;
    }

    private RankProgram overlapProgram(ToolRequest request) {
        List<String> refused = measuringWords();
        if (!refused.isEmpty()) {
            throw new IllegalArgumentException(
                    "bench overlap averages f32 and times each part of a step, so it takes only "
                            + String.join(", ", OverlapOptions.names()) + " and --json, found "
                            + String.join(" ", refused));
        }
        List<String> words = overlap.words();
        if (json) {
            words.add("--json");
        }
        OverlapRequest.parse(words).checkRanks(request.worldSize());
        return new RankProgram(OverlapBench.class.getName(), words);
    }

    @Override
    public RankProgram program(ToolRequest request) {
        if (collective.equals(OverlapRequest.NAME)) {
            return overlapProgram(request);
        }
        overlap.refuseFor(collective);
        List<String> words = words();
        Sweep.parse(words).checkRanks(request.worldSize());
        return new RankProgram(CollectiveBench.class.getName(), words);
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
        overlap.refuseFor("--compare");
        List<String> refused = new ArrayList<>();
        add(refused, "--type", type);
        add(refused, "--op", op);
        add(refused, "--queued", queued);
        add(refused, "--memory", memory);
        add(refused, "--links", request.links().orElse(null));
        if (!refused.isEmpty()) {
            throw new IllegalArgumentException(
                    "--compare measures sums of f32 over every kind of links: it takes only -n, --sizes and --time, found "
                            + String.join(" ", refused));
        }
        Path script = request.checkout().orElse(Path.of(".")).resolve("benchmarks/compare.sh");
        if (!Files.isExecutable(script)) {
            throw new IllegalArgumentException("--compare needs a checkout of ferro: " + script + " not found");
        }
        List<String> command = new ArrayList<>(List.of(script.toString()));
        add(command, "--collectives", collective);
        add(command, "--ranks", "" + request.worldSize());
        add(command, "--sizes", sizes);
        add(command, "--time", time);
        return command;
    }
}
