package ferro.examples.jlama;

import ferro.CallCounters;
import ferro.CollectiveKind;
import ferro.FerroException;
import ferro.group.ProcessGroup;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Random;

/** The main program of a rank: it continues a text with a Llama model, of which each rank has a part. */
public final class TextGenerator {
    private static final String USAGE = """
        usage: Generate --model FOLDER [--prompt TEXT] [--tokens N] [--temperature T] [--seed N] [--threads N]

          --model FOLDER   folder with config.json, tokenizer.json and F32 weights in safetensors files
          --prompt TEXT    text to continue (default: Hello)
          --tokens N       maximum number of tokens to add (default 64)
          --temperature T  0 for the most probable token, larger for more chance (default 0)
          --seed N         seed of chance (default 1)
          --threads N      threads that compute, per rank; 0 for the choice of Jlama (default 1)
        """;

    private static final Map<String, String> DEFAULTS = Map.of(
            "--model",
            "",
            "--prompt",
            "Hello",
            "--tokens",
            "64",
            "--temperature",
            "0",
            "--seed",
            "1",
            "--threads",
            "1");

    private final ProcessGroup group;
    private final PrintStream out;
    private final PrintStream err;
    private int generated;

    private TextGenerator(ProcessGroup group, PrintStream out, PrintStream err) {
        this.group = group;
        this.out = out;
        this.err = err;
    }

    /**
     * Runs one rank and ends the process. Rank 0 prints the text. The exit code is 0 for success, 1 if the
     * communication failed, and 2 if the options or the model are refused.
     *
     * @param arguments options, as {@code --help} lists them
     */
    public static void main(String[] arguments) {
        System.exit(run(System.out, System.err, arguments));
    }

    static int run(PrintStream out, PrintStream err, String... arguments) {
        if (List.of(arguments).contains("--help")) {
            out.print(USAGE);
            return 0;
        }
        try (ProcessGroup group = ProcessGroup.join()) {
            TextGenerator program = new TextGenerator(group, out, err);
            try {
                return program.run(arguments);
            } catch (FerroException failure) {
                err.println("jlama: rank " + group.rank() + " failed after token " + program.generated + ": "
                        + failure.code() + ": " + failure.getMessage());
                return 1;
            }
        } catch (FerroException failure) {
            err.println("jlama: " + failure.code() + ": " + failure.getMessage());
            return 1;
        }
    }

    private int run(String... arguments) {
        ProblemExchange agreement = new ProblemExchange(group);
        Optional<Arguments> options = Optional.empty();
        Optional<ModelMetadata> metadata = Optional.empty();
        Optional<String> problem;
        try {
            options = Optional.of(options(arguments));
            metadata = Optional.of(ModelMetadata.read(Path.of(options.get().text("--model"))));
            problem = metadata.get().refusal(group.worldSize()).or(Kernels::refusal);
        } catch (IllegalArgumentException | IOException wrong) {
            problem = Optional.of(wrong.getMessage());
        }
        Optional<String> refused = agreement.firstProblem(problem);
        if (refused.isEmpty()) {
            refused = agreement.firstDifference("model", metadata.orElseThrow().fingerprint());
        }
        return refused.isPresent() ? refuse(refused.get()) : answer(options.orElseThrow(), metadata.orElseThrow());
    }

    private static Arguments options(String... arguments) {
        Arguments options = Arguments.parse(DEFAULTS, arguments);
        Arguments.require(!options.text("--model").isEmpty(), "--model is missing: name a folder; see --help");
        options.integer("--tokens", 1);
        options.integer("--threads", 0);
        options.integer("--seed", 0);
        options.number("--temperature");
        return options;
    }

    /** All ranks have the same reason, and one of them prints it. */
    private int refuse(String reason) {
        if (group.rank() == 0) {
            err.println("jlama: " + reason);
        }
        return 2;
    }

    private int answer(Arguments options, ModelMetadata metadata) {
        ShardedModel.SamplingOptions sampling = new ShardedModel.SamplingOptions(
                options.number("--temperature"), new Random(options.integer("--seed", 0)));
        int threads = options.integer("--threads", 0);
        try (ShardedModel model = ShardedModel.load(
                group, metadata.folder(), sampling, threads == 0 ? Optional.empty() : Optional.of(threads))) {
            int[] prompt = model.encode(options.text("--prompt"));
            int tokens = options.integer("--tokens", 1);
            if (prompt.length + tokens > metadata.longestText()) {
                return refuse("the prompt has " + prompt.length + " tokens, and --tokens is " + tokens
                        + ": the longest text of this model has " + metadata.longestText() + " tokens");
            }
            print(options.text("--prompt"));
            CallTiming reading = new CallTiming(group);
            int next = model.next(prompt);
            String prompted = reading.end("prompt", prompt.length);
            CallTiming answering = new CallTiming(group);
            for (; generated < tokens && !model.isEnd(next); generated++) {
                print(model.decode(next));
                next = model.next(next);
            }
            print(System.lineSeparator() + prompted + answering.end("answer", generated));
        }
        return 0;
    }

    /** The time in which tokens are read, and what the collectives take of it. */
    private record CallTiming(ProcessGroup group, CallCounters before, long begin) {
        CallTiming(ProcessGroup group) {
            this(group, group.counters(), System.nanoTime());
        }

        String end(String name, int tokens) {
            double seconds = (System.nanoTime() - begin) / 1e9;
            CallCounters calls = group.counters().minus(before);
            CallCounters.Totals sums = calls.of(CollectiveKind.ALL_REDUCE);
            long number = Math.max(sums.calls(), 1);
            return String.format(
                    Locale.ROOT,
                    "%s: %d tokens in %.2f s, %.1f tokens/s; %d all-reduces of %,d bytes, %.0f us each;"
                            + " %.1f %% of the time in collectives, with the wait for other ranks%n",
                    name,
                    tokens,
                    seconds,
                    tokens / seconds,
                    sums.calls(),
                    sums.bytes() / number,
                    sums.time().toNanos() / 1e3 / number,
                    calls.all().time().toNanos() / 1e7 / seconds);
        }
    }

    private void print(String text) {
        if (group.rank() == 0) {
            out.print(text);
            out.flush();
        }
    }
}
