package ferro.launcher;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Standard output and standard error of the launcher. Thread-safe: what one call writes stays together, on both streams,
 * for they often end at the same terminal.
 */
final class Screen {
    /** Empties a terminal's line from the cursor on. */
    static final String WIPE = "\033[K";

    private final Channel out;
    private final Channel err;
    private final boolean prefixed;

    /**
     * One of the two streams.
     *
     * @param stream   where bytes go
     * @param terminal whether somebody watches: colours and progress bars make sense
     */
    record Channel(OutputStream stream, boolean terminal) {}

    /** The two streams. */
    enum Name {
        OUT,
        ERR
    }

    Screen(Channel out, Channel err) {
        this(out, err, true);
    }

    private Screen(Channel out, Channel err, boolean prefixed) {
        this.out = out;
        this.err = err;
        this.prefixed = prefixed;
    }

    /** Returns the same streams for ranks whose output is one table: without the rank in front, on standard output. */
    Screen withoutPrefixes() {
        return new Screen(out, err, false);
    }

    /** Whether lines on this stream carry the rank that printed them. */
    boolean prefixed(Name name) {
        return prefixed || name == Name.ERR;
    }

    /** Returns the streams of this process; colours are left out where NO_COLOR or a dumb terminal asks for it. */
    static Screen ofProcess(Map<String, String> environment) {
        boolean plain = environment.containsKey("NO_COLOR")
                || environment.getOrDefault("TERM", "dumb").equals("dumb");
        int terminals = plain ? 0 : Terminals.find();
        return new Screen(
                new Channel(new FileOutputStream(FileDescriptor.out), (terminals & Terminals.OUT) != 0),
                new Channel(new FileOutputStream(FileDescriptor.err), (terminals & Terminals.ERR) != 0));
    }

    boolean terminal(Name name) {
        return channel(name).terminal();
    }

    /** Returns how wide the terminal is that standard error goes to, or this many where it goes elsewhere. */
    int columns(int otherwise) {
        return err.terminal() ? Terminals.columnsOfErr().orElse(otherwise) : otherwise;
    }

    /** Writes whole lines, or one state of a progress bar, which ends in a carriage return. */
    synchronized void write(Name name, byte[] bytes, int length) throws IOException {
        if (length == 0) {
            return;
        }
        Channel channel = channel(name);
        channel.stream().write(bytes, 0, length);
        channel.stream().flush();
    }

    /** Prints a line of the launcher's own. */
    void note(String text) {
        tell(List.of("ferro: " + text));
    }

    /** Prints lines on standard error. */
    void tell(List<String> lines) {
        String wipe = err.terminal() ? WIPE : "";
        String text = lines.stream().map(line -> wipe + line + "\n").collect(Collectors.joining());
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        try {
            write(Name.ERR, bytes, bytes.length);
        } catch (IOException closed) {
            // nobody is left to be told, and that must not keep the launcher from ending its ranks
            return;
        }
    }

    private Channel channel(Name name) {
        return name == Name.OUT ? out : err;
    }
}
