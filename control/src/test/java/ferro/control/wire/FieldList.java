package ferro.control.wire;

import ferro.FerroException.Code;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** The fields of a message in its order, for the table of docs/wire-protocol.md. */
final class FieldList implements FieldCodec {
    private final WireMessage message;
    private final List<String> names = new ArrayList<>();
    private final List<String> types = new ArrayList<>();
    private byte kind;
    private int leastBytes = 1;
    private int mostBytes = 1;

    FieldList(MessageFamily family, int kind) {
        message = family.of(kind, this);
    }

    List<String> names() {
        return names;
    }

    int mostBytes() {
        return mostBytes;
    }

    /** Returns the row of the table without its last column, which describes the message. */
    String row() {
        StringBuilder fields = new StringBuilder();
        for (int field = 0; field < names.size(); field++) {
            fields.append(field == 0 ? "" : ", ")
                    .append('`')
                    .append(names.get(field))
                    .append("` ")
                    .append(types.get(field));
        }
        String bytes = leastBytes == mostBytes ? "" + leastBytes : leastBytes + " to " + mostBytes;
        return "| " + kind + " | " + name() + " | " + (fields.isEmpty() ? "none" : fields) + " | " + bytes + " |";
    }

    String name() {
        return message.getClass().getSimpleName();
    }

    Class<?> type() {
        return message.getClass();
    }

    @Override
    public void kind(byte passed) {
        kind = passed;
    }

    private void add(String name, String type, int least, int most) {
        names.add(name);
        types.add(type);
        leastBytes += least;
        mostBytes += most;
    }

    @Override
    public long int64(String name, long value) {
        add(name, "int64", Long.BYTES, Long.BYTES);
        return 0;
    }

    @Override
    public int count(String name, int value) {
        add(name, "count", Integer.BYTES, Integer.BYTES);
        return 0;
    }

    @Override
    public int rank(String name, int value) {
        add(name, "rank", Integer.BYTES, Integer.BYTES);
        return 0;
    }

    @Override
    public Code code(String name, Set<Code> possible, Code value) {
        String some = possible.size() == Code.values().length ? "" : " of " + new TreeSet<>(possible);
        add(name, "code" + some, 1, 1);
        return Code.ABORTED;
    }

    @Override
    public Set<Integer> ranks(String name, int maxBytes, Set<Integer> value) {
        String some = maxBytes == FieldWriter.RANKS_MOST ? "" : " to " + maxBytes;
        add(name, "ranks" + some, Short.BYTES, Short.BYTES + maxBytes);
        return Set.of();
    }

    @Override
    public Set<Integer> joinedRanks(String name, Set<Integer> value) {
        add(name, "joined ranks", Short.BYTES, Short.BYTES + FieldWriter.RANKS_MOST);
        return Set.of();
    }

    @Override
    public String text(String name, int maxBytes, String value) {
        add(name, "text to " + maxBytes, Short.BYTES, Short.BYTES + maxBytes);
        return "";
    }

    @Override
    public byte[] bytes(String name, int maxBytes, byte[] value) {
        add(name, "bytes to " + maxBytes, Integer.BYTES, Integer.BYTES + maxBytes);
        return new byte[0];
    }
}
