package ferro.launcher;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.function.Consumer;

/**
 * Reads one stream of one rank to its end: lines go, with the rank in front, to the screen, all bytes to the log. One line of
 * the JVM's is left to the log: it tells what our own flag has done.
 */
final class RankStream implements Runnable, LineAssembler.Sink {
    private static final byte[] OUR_FLAGS_DOING = JavaSettings.INCUBATING.getBytes(StandardCharsets.US_ASCII);
    private static final String[] COLOURS = {"36", "33", "32", "35", "34", "96", "93", "92", "95", "94"};

    private final InputStream source;
    private final Screen screen;
    private final int rank;
    private final Screen.Name name;
    private final OutputStream log;
    private final Tail tail;
    private final byte[] prefix;
    private final Consumer<IOException> outputClosed;
    private final ByteArrayOutputStream batch = new ByteArrayOutputStream();
    private boolean cut;
    private boolean cutTold;

    /**
     * What a stream is tied to.
     *
     * @param rank         whose
     * @param name         which
     * @param screen       where lines go
     * @param log          where bytes go
     * @param tail         what the box will show
     * @param outputClosed told once if the screen cannot be written to
     */
    record Ties(
            int rank,
            Screen.Name name,
            Screen screen,
            OutputStream log,
            Tail tail,
            Consumer<IOException> outputClosed) {}

    RankStream(InputStream source, Ties ties) {
        this.source = source;
        this.screen = ties.screen();
        this.rank = ties.rank();
        this.name = ties.name();
        this.log = ties.log();
        this.tail = ties.tail();
        this.prefix = screen.prefixed(name) ? prefix(ties.rank(), screen.terminal(name)) : new byte[0];
        this.outputClosed = ties.outputClosed();
    }

    /** On a terminal the rest of the line is wiped first: a longer progress bar may stand there. */
    private static byte[] prefix(int rank, boolean terminal) {
        String number = "[" + rank + "]";
        String shown = terminal
                ? "\033[" + COLOURS[rank % COLOURS.length] + "m" + number + "\033[0m " + Screen.WIPE
                : number + " ";
        return shown.getBytes(StandardCharsets.US_ASCII);
    }

    @Override
    public void run() {
        LineAssembler lines = new LineAssembler(screen.terminal(name), this);
        try (InputStream from = source;
                OutputStream to = log) {
            copy(from, to, lines);
        } catch (IOException failure) {
            outputClosed.accept(failure);
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
        show();
    }

    /** The stream of a process that was killed may end in an error; that is an end all the same. */
    private static int read(InputStream from, byte[] chunk) {
        try {
            return from.read(chunk);
        } catch (IOException ended) {
            return -1;
        }
    }

    @Override
    public void line(byte[] bytes, int length, byte end) {
        boolean ours = Arrays.equals(bytes, 0, length, OUR_FLAGS_DOING, 0, OUR_FLAGS_DOING.length);
        if (!ours && (length > 0 || end == '\n')) {
            tail.add(bytes, length);
            batch.writeBytes(prefix);
            batch.write(bytes, 0, length);
            batch.write(end);
        }
    }

    @Override
    public void cut() {
        cut = true;
    }

    private void show() throws IOException {
        byte[] shown = batch.toByteArray();
        batch.reset();
        screen.write(name, shown, shown.length);
        if (cut && !cutTold) {
            cutTold = true;
            screen.note("rank " + rank + " printed a line longer than " + LineAssembler.LONGEST_LINE
                    + " bytes: such lines are shown in pieces, and kept whole by --log-dir DIR");
        }
    }
}
