package ferro.launcher.output;

import java.util.Arrays;

/**
 * Splits a stream of bytes into lines. Each stream has one thread and one assembler.
 *
 * <p>With {@code bars} (on a terminal), a carriage return also ends a line, so that progress bars move.
 */
final class LineAssembler {
    /** Longest line in bytes. A longer line is split, so that memory stays bounded for any output. */
    static final int LONGEST_LINE = 1 << 20;

    /** A consumer of lines. */
    interface LineSink {
        /** Receives one line and its last byte, a line feed or carriage return. The array is reused after the call. */
        void line(byte[] bytes, int length, byte end);

        /** Reports that the last line is a piece of a longer line. */
        default void cut() {}
    }

    private final boolean bars;
    private final LineSink sink;
    private byte[] line = new byte[256];
    private int length;
    private boolean afterReturn;

    LineAssembler(boolean bars, LineSink sink) {
        this.bars = bars;
        this.sink = sink;
    }

    void accept(byte[] bytes, int count) {
        for (int at = 0; at < count; at++) {
            accept(bytes[at]);
        }
    }

    /** Ends the last line of the stream if the line has no line end. */
    void finish() {
        if (length > 0) {
            emit((byte) '\n');
        }
    }

    private void accept(byte next) {
        boolean lineFeedOfReturn = afterReturn && next == '\n';
        afterReturn = bars && next == '\r';
        if (lineFeedOfReturn) {
            sink.line(line, 0, (byte) '\n');
        } else if (next == '\n') {
            emit(next);
        } else if (afterReturn) {
            if (length > 0) {
                emit(next);
            }
        } else {
            append(next);
        }
    }

    private void append(byte next) {
        if (length == LONGEST_LINE) {
            emit((byte) '\n');
            sink.cut();
        }
        if (length == line.length) {
            line = Arrays.copyOf(line, Math.min(LONGEST_LINE, 2 * length));
        }
        line[length++] = next;
    }

    private void emit(byte end) {
        sink.line(line, length, end);
        length = 0;
    }
}
