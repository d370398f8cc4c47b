package ferro.backend.tcp.net;

import io.netty.channel.ChannelException;
import io.netty.channel.unix.Errors;
import java.io.IOException;
import java.util.Optional;

/**
 * Detects that an operation on a socket failed because file descriptors or memory are exhausted. Repeating the
 * operation would not help.
 */
public final class ShortageDetector {
    /** Error numbers of errno(3) on Linux. */
    private static final int ENOMEM = 12;

    private static final int ENFILE = 23;
    private static final int EMFILE = 24;
    private static final int ENOBUFS = 105;

    /** Error text of EMFILE; the text of ENFILE begins with the same words. */
    private static final String FILES = "Too many open files";

    private static final String FILES_OF_ALL = FILES + " in system";

    private ShortageDetector() {}

    /** Returns the error text, and how to provide more of the exhausted resource; empty for other failures. */
    public static Optional<String> of(Throwable failure) {
        Throwable last = failure;
        for (Throwable one = failure; one != null; one = one.getCause()) {
            if (one instanceof OutOfMemoryError) {
                return Optional.of(one.getMessage());
            }
            last = one;
        }
        if (last instanceof Errors.NativeIoException of) {
            return ofErrno(-of.expectedErr(), of.getMessage());
        }
        boolean opening = failure instanceof ChannelException;
        return opening || last instanceof IOException
                ? ofText(String.valueOf(last.getMessage()), opening)
                : Optional.empty();
    }

    private static Optional<String> ofErrno(int errno, String text) {
        return switch (errno) {
            case EMFILE -> Optional.of(files(text));
            case ENFILE -> Optional.of(filesOfAll(text));
            case ENOMEM -> Optional.of(memory(text, "ENOMEM"));
            case ENOBUFS -> Optional.of(memory(text, "ENOBUFS"));
            default -> Optional.empty();
        };
    }

    /**
     * Classifies an error of the JDK by its text, because the error has no number. If opening a socket has failed,
     * every error text means that a resource is exhausted.
     */
    private static Optional<String> ofText(String text, boolean opening) {
        if (text.contains(FILES_OF_ALL)) {
            return Optional.of(filesOfAll(text));
        }
        if (text.contains(FILES)) {
            return Optional.of(files(text));
        }
        if (text.contains("Cannot allocate memory")) {
            return Optional.of(memory(text, "ENOMEM"));
        }
        if (text.contains("No buffer space available")) {
            return Optional.of(memory(text, "ENOBUFS"));
        }
        return opening ? Optional.of(text) : Optional.empty();
    }

    private static String files(String text) {
        return text + " (EMFILE): raise the limit of open files (ulimit -n)";
    }

    private static String filesOfAll(String text) {
        return text + " (ENFILE): raise the limit of open files of all processes (fs.file-max)";
    }

    private static String memory(String text, String errno) {
        return text + " (" + errno + "): the kernel has no memory for a socket";
    }
}
