package ferro.launcher.output;

import java.util.Arrays;

/**
 * Cuts a stream of bytes into lines. One thread per stream.
 *
 * <p>With bars on (a terminal), a carriage return ends a line too, so that progress bars move while they are drawn.
 */
final class LineAssembler {
    /** Longer lines are split, so that memory stays bounded whatever a rank prints. */
    static final int LONGEST_LINE = 1 << 20;

    /** Receives the lines. */
    interface LineSink {
        /** Receives one line. {@code end} is its last byte, line feed or carriage return. The array is reused afterwards. */
        void line(byte[] bytes, int length, byte end);

        /** Called if the line just received is a piece of a longer one. */
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

    /** Ends the last line if it had no line end. */
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
