package ferro.launcher.input;

import ferro.spi.LinuxFiles;
import java.io.IOException;
import java.nio.charset.Charset;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** The arguments of this process as bytes. The JVM decodes arguments with a character set and may lose bytes. */
public final class RawArguments {
    private RawArguments() {}

    /**
     * Refuses arguments that a rank would receive with other bytes. Does nothing if the system does not show the bytes
     * of the arguments.
     *
     * @param arguments arguments that {@code main} has received
     */
    public static void check(String... arguments) {
        try {
            check(Files.readAllBytes(LinuxFiles.HOST.path("self/cmdline")), charset(), arguments);
        } catch (IOException unknown) {
            // this system has no /proc
            return;
        }
    }

    private static Charset charset() {
        String name = System.getProperty("sun.jnu.encoding", "UTF-8");
        return Charset.isSupported(name) ? Charset.forName(name) : Charset.defaultCharset();
    }

    static void check(byte[] commandLine, Charset charset, String... arguments) {
        List<byte[]> words = words(commandLine);
        int before = words.size() - arguments.length;
        for (int index = 0; index < arguments.length && before >= 0; index++) {
            if (!Arrays.equals(words.get(before + index), arguments[index].getBytes(charset))) {
                throw new BadInputException(
                        "argument " + (index + 1) + " has bytes that are invalid in " + charset.name()
                                + ", the character set of this JVM: for UTF-8 text start ./ferro or set LC_ALL=C.UTF-8; pass"
                                + " other bytes in a variable or a file");
            }
        }
    }

    private static List<byte[]> words(byte[] commandLine) {
        List<byte[]> words = new ArrayList<>();
        int start = 0;
        for (int at = 0; at < commandLine.length; at++) {
            if (commandLine[at] == 0) {
                words.add(Arrays.copyOfRange(commandLine, start, at));
                start = at + 1;
            }
        }
        return words;
    }
}
