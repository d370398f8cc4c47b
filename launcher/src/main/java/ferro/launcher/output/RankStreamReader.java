package ferro.launcher.output;

import ferro.launcher.input.DebuggedRanks;
import ferro.launcher.program.JavaSettings;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Reads one stream of one rank to its end. Prints each line on the screen with the rank in front, and copies all bytes
 * to the log. Does not show the JVM's line about a flag that ferro sets. Replaces the line in which the JVM of a
 * debugged rank names its port. Shortens stack traces on standard error.
 */
public final class RankStreamReader implements Runnable, LineAssembler.LineSink {
    private static final byte[] OUR_FLAGS_DOING = JavaSettings.INCUBATING.getBytes(StandardCharsets.US_ASCII);
    private static final String[] COLOURS = {"36", "33", "32", "35", "34", "96", "93", "92", "95", "94"};

    private final InputStream source;
    private final StreamTargets ties;
    private final byte[] prefix;
    private final boolean mayListen;
    private final boolean folds;
    private final TraceShortener trace = new TraceShortener();
    private final ByteArrayOutputStream batch = new ByteArrayOutputStream();
    private final OutputTimeout patience = new OutputTimeout(System::nanoTime);
    private boolean noted;
    private boolean cut;
    private boolean cutTold;

    /**
     * The description of a stream and the destinations of its output.
     *
     * @param rank         number of the rank
     * @param name         standard output or standard error
     * @param screen       shows lines
     * @param log          receives all bytes
     * @param tail         keeps the last lines for the failure report
     * @param debugged     ranks that wait for a debugger
     * @param outputClosed called once if the screen cannot be written
     */
    public record StreamTargets(
            int rank,
            Screen.StreamName name,
            Screen screen,
            OutputStream log,
            LastLines tail,
            DebuggedRanks debugged,
            Consumer<IOException> outputClosed) {}

    /** Creates a reader for one stream of a rank. */
    public RankStreamReader(InputStream source, StreamTargets ties) {
        this.source = source;
        this.ties = ties;
        Screen screen = ties.screen;
        this.prefix = screen.prefixed(ties.name) ? prefix(ties.rank, screen.terminal(ties.name)) : new byte[0];
        this.mayListen =
                ties.name == Screen.StreamName.OUT && ties.debugged.ranks().contains(ties.rank);
        this.folds = ties.name == Screen.StreamName.ERR && screen.folds();
    }

    /** Returns the prefix of a line. On a terminal, the prefix clears the rest of a longer progress bar. */
    private static byte[] prefix(int rank, boolean terminal) {
        String number = "[" + rank + "]";
        String shown = terminal
                ? "\033[" + COLOURS[rank % COLOURS.length] + "m" + number + "\033[0m " + Screen.WIPE
                : number + " ";
        return shown.getBytes(StandardCharsets.US_ASCII);
    }

    @Override
    public void run() {
        LineAssembler lines = new LineAssembler(ties.screen.terminal(ties.name), this);
        try (InputStream from = source;
                OutputStream to = ties.log) {
            copy(from, to, lines);
        } catch (IOException failure) {
            ties.outputClosed.accept(failure);
        }
    }

    private void copy(InputStream from, OutputStream to, LineAssembler lines) throws IOException {
        byte[] chunk = new byte[1 << 16];
        for (int count = read(from, chunk); count >= 0; count = read(from, chunk)) {
            to.write(chunk, 0, count);
            lines.accept(chunk, count);
            show();
        }
        lines.finish();
        trace.last().forEach(line -> print(line, (byte) '\n'));
        show();
    }

    /** Reads bytes. An error counts as the end of the stream. The stream of a killed process may end in an error. */
    private int read(InputStream from, byte[] chunk) {
        int count = -1;
        patience.waits();
        try {
            count = from.read(chunk);
        } catch (IOException ended) {
            return count;
        } finally {
            patience.got(count);
        }
        return count;
    }

    /** Records that the rank has ended. Only bytes in the pipe and output of the rank's children are still missing. */
    public void awaitRest() {
        patience.renew();
    }

    /** Returns how long to wait for the rest of the stream; zero or less if the wait is over. */
    public long patienceMillis() {
        return patience.leftMillis();
    }

    @Override
    public void line(byte[] bytes, int length, byte end) {
        boolean ours = Arrays.equals(bytes, 0, length, OUR_FLAGS_DOING, 0, OUR_FLAGS_DOING.length);
        if (isNoted(bytes, length)) {
            return;
        }
        if (!ours && (length > 0 || end == '\n')) {
            ties.tail.add(bytes, length);
            if (!folds) {
                batch.writeBytes(prefix);
                batch.write(bytes, 0, length);
                batch.write(end);
                return;
            }
            // one character for each byte, so that the screen receives the bytes of the rank
            String text = new String(bytes, 0, length, StandardCharsets.ISO_8859_1);
            for (String one : trace.next(text)) {
                print(one, one.equals(text) ? end : (byte) '\n');
            }
        }
    }

    private void print(String line, byte end) {
        batch.writeBytes(prefix);
        batch.writeBytes(line.getBytes(StandardCharsets.ISO_8859_1));
        batch.write(end);
    }

    /** Prints a line about a debugger in place of the JVM's line. Returns whether the line was a debugger line. */
    private boolean isNoted(byte[] bytes, int length) {
        if (!mayListen || !DebuggedRanks.mayName(bytes, length)) {
            return false;
        }
        Optional<String> note =
                ties.debugged.note(ties.rank, new String(bytes, 0, length, StandardCharsets.UTF_8), noted);
        // a JVM that a signal ends listens again for a moment
        note.filter(any -> !noted || !ties.screen.isHurried()).ifPresent(ties.screen::note);
        noted |= note.isPresent();
        return note.isPresent();
    }

    @Override
    public void cut() {
        cut = true;
    }

    private void show() throws IOException {
        byte[] shown = batch.toByteArray();
        batch.reset();
        ties.screen.write(ties.name, shown, shown.length);
        if (cut && !cutTold) {
            cutTold = true;
            ties.screen.note("rank " + ties.rank + " printed a line longer than " + LineAssembler.LONGEST_LINE
                    + " bytes: such lines are shown in pieces; --log-dir DIR keeps them whole");
        }
    }
}
