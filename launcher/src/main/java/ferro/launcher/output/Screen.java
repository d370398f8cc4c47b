package ferro.launcher.output;

import ferro.spi.Settings;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Collectors;

/**
 * Standard output and standard error of the launcher. Thread-safe. The output of one call stays together on both
 * streams, because the two streams often lead to the same terminal.
 */
public final class Screen {
    /** The sequence that clears the line of a terminal from the cursor to the end. */
    static final String WIPE = "\033[K";

    /** How long after {@link #hurry} a line of the launcher waits for output that is being written. */
    private static final long HURRIED_MILLIS = 100;

    private final ScreenStream out;
    private final ScreenStream err;
    private final boolean prefixed;
    private final boolean folds;
    private final LinePrinter teller;
    private final ReentrantLock lock;
    private final AtomicBoolean warned;

    /**
     * Standard output or standard error.
     *
     * @param stream   where bytes are written
     * @param terminal whether the stream is a terminal, which supports colours and progress bars
     * @param onDisk   whether the stream is a file or a device, so that a failed write does not mean that a reader has
     *     gone
     */
    public record ScreenStream(OutputStream stream, boolean terminal, boolean onDisk) {
        /** Creates a stream that goes to a reader, such as a pipe. */
        public ScreenStream(OutputStream stream, boolean terminal) {
            this(stream, terminal, false);
        }
    }

    /** The names of the two streams. */
    public enum StreamName {
        OUT,
        ERR
    }

    /** Creates a screen that prints line by line to two readers, such as pipes, and shortens traces of ranks. */
    public Screen(OutputStream out, OutputStream err) {
        this(new ScreenStream(out, false), new ScreenStream(err, false), true);
    }

    /**
     * Creates a screen that prints line by line to two streams.
     *
     * @param folds whether traces of ranks are shortened
     */
    Screen(ScreenStream out, ScreenStream err, boolean folds) {
        this.out = out;
        this.err = err;
        this.folds = folds;
        this.prefixed = true;
        this.teller = new LinePrinter();
        this.lock = new ReentrantLock(true);
        this.warned = new AtomicBoolean();
    }

    private Screen(Screen other, boolean prefixed) {
        this.out = other.out;
        this.err = other.err;
        this.prefixed = prefixed;
        this.folds = other.folds;
        this.teller = other.teller;
        this.lock = other.lock;
        this.warned = other.warned;
    }

    /**
     * Returns a screen with the same streams for ranks that print one table. Lines of standard output have no rank in
     * front.
     */
    public Screen withoutPrefixes() {
        return new Screen(this, false);
    }

    /** Whether lines on this stream begin with the rank that printed them. */
    boolean prefixed(StreamName name) {
        return prefixed || name == StreamName.ERR;
    }

    /** Whether traces of ranks are shortened. */
    boolean folds() {
        return folds;
    }

    /** Returns the streams of this process, without colours if NO_COLOR is set or the terminal is dumb. */
    public static Screen ofProcess(Map<String, String> environment) {
        boolean plain = environment.containsKey("NO_COLOR")
                || environment.getOrDefault("TERM", "dumb").equals("dumb");
        int terminals = plain ? 0 : TtyDetector.find();
        return new Screen(
                new ScreenStream(
                        new FileOutputStream(FileDescriptor.out),
                        (terminals & TtyDetector.OUT) != 0,
                        TtyDetector.outIsOnDisk()),
                new ScreenStream(new FileOutputStream(FileDescriptor.err), (terminals & TtyDetector.ERR) != 0),
                !Settings.FULL_TRACES.read(environment.getOrDefault(Settings.FULL_TRACES.variable(), "0")));
    }

    /** Returns whether a stream is a terminal. */
    public boolean terminal(StreamName name) {
        return channel(name).terminal();
    }

    /** Returns the width of the terminal of standard error; {@code otherwise} if standard error is not a terminal. */
    public int columns(int otherwise) {
        return err.terminal() ? TtyDetector.columnsOfErr().orElse(otherwise) : otherwise;
    }

    /**
     * Writes complete lines, or one state of a progress bar, which ends in a carriage return. Output that standard
     * error does not accept is skipped. Standard output on a full disk is also skipped, after one warning.
     *
     * @throws IOException if the reader of standard output has gone
     */
    void write(StreamName name, byte[] bytes, int length) throws IOException {
        if (length == 0) {
            return;
        }
        Optional<IOException> failure = tried(name, bytes, length);
        if (failure.isEmpty() || name == StreamName.ERR) {
            return;
        }
        if (!out.onDisk()) {
            throw failure.get();
        }
        if (warned.compareAndSet(false, true)) {
            note("WARNING: standard output cannot be written (" + failure.get().getMessage()
                    + "): the output of the ranks is missing there; the job continues");
        }
    }

    private Optional<IOException> tried(StreamName name, byte[] bytes, int length) {
        lock.lock();
        try {
            put(name, bytes, length);
            return Optional.empty();
        } catch (IOException failure) {
            return Optional.of(failure);
        } finally {
            lock.unlock();
        }
    }

    private void put(StreamName name, byte[] bytes, int length) throws IOException {
        ScreenStream channel = channel(name);
        channel.stream().write(bytes, 0, length);
        channel.stream().flush();
    }

    /** Prints a line of the launcher itself. */
    public void note(String text) {
        tell(List.of("ferro: " + text));
    }

    /** Bounds the waits for lines of the launcher from now on. A reader that does not read then blocks no caller. */
    public void hurry() {
        teller.hurry();
    }

    /** Returns whether waits are bounded, because a signal ends the job. */
    boolean isHurried() {
        return teller.hurried();
    }

    /** Prints lines on standard error. */
    public void tell(List<String> lines) {
        String wipe = err.terminal() ? WIPE : "";
        String text = lines.stream().map(line -> wipe + line + "\n").collect(Collectors.joining());
        teller.tell(() -> tell(text.getBytes(StandardCharsets.UTF_8)));
    }

    private void tell(byte[] bytes) {
        boolean alone = lockedUnlessHurried();
        try {
            put(StreamName.ERR, bytes, bytes.length);
        } catch (IOException closed) {
            // the reader has gone, and the launcher still has to end its ranks
            return;
        } finally {
            if (alone) {
                lock.unlock();
            }
        }
    }

    /**
     * Takes the lock, in the order of the waiting threads. Returns whether the lock was taken. After {@link #hurry},
     * waits at most 100 ms, because the thread that has the lock may be stuck on the other stream. A caller prints even
     * without the lock.
     */
    private boolean lockedUnlessHurried() {
        try {
            if (!teller.hurried()) {
                lock.lockInterruptibly();
                return true;
            }
        } catch (InterruptedException hurried) {
            // only hurry() interrupts this thread
        }
        try {
            return lock.tryLock(HURRIED_MILLIS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException hurried) {
            return false;
        }
    }

    private ScreenStream channel(StreamName name) {
        return name == StreamName.OUT ? out : err;
    }
}
