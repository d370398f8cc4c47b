package ferro.spark;

import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** The references of a class file to other types, fields and methods, by the Java Virtual Machine Specification 4.4. */
final class ClassReferences {
    private static final int MAGIC_AND_VERSIONS = 8;
    private static final int UTF8 = 1;
    private static final int LONG = 5;
    private static final int DOUBLE = 6;
    private static final int CLASS = 7;
    private static final int FIELD = 9;
    private static final int INTERFACE_METHOD = 11;
    private static final int NAME_AND_TYPE = 12;
    private static final int METHOD_HANDLE = 15;

    private final int[] kinds;
    /** The index that an entry has first, and the one that it has second. */
    private final int[][] parts;

    private final String[] texts;
    private final int thisClass;

    /** A reference to a field, a method or, without a name, a type alone; owner and name have slashes. */
    record Reference(String owner, String name, String descriptor) {}

    private ClassReferences(DataInputStream in) throws IOException {
        in.skipNBytes(MAGIC_AND_VERSIONS);
        int count = in.readUnsignedShort();
        kinds = new int[count];
        parts = new int[count][2];
        texts = new String[count];
        for (int index = 1; index < count; index++) {
            read(in, index);
            if (kinds[index] == LONG || kinds[index] == DOUBLE) {
                index++;
            }
        }
        in.skipNBytes(Short.BYTES); // access flags
        thisClass = in.readUnsignedShort();
    }

    private void read(DataInputStream in, int index) throws IOException {
        kinds[index] = in.readUnsignedByte();
        switch (kinds[index]) {
            case UTF8 -> texts[index] = in.readUTF();
            case LONG, DOUBLE -> in.skipNBytes(Long.BYTES);
            case 3, 4 -> in.skipNBytes(Integer.BYTES);
            case CLASS, 8, 16, 19, 20 -> parts[index][0] = in.readUnsignedShort();
            case METHOD_HANDLE -> in.skipNBytes(1 + Short.BYTES);
            case FIELD, 10, INTERFACE_METHOD, NAME_AND_TYPE, 17, 18 -> {
                parts[index][0] = in.readUnsignedShort();
                parts[index][1] = in.readUnsignedShort();
            }
            default -> throw new IOException("constant " + index + " has the unknown kind " + kinds[index]);
        }
    }

    private static ClassReferences parse(byte[] classFile) throws IOException {
        return new ClassReferences(new DataInputStream(new ByteArrayInputStream(classFile)));
    }

    static String name(byte[] classFile) throws IOException {
        ClassReferences all = parse(classFile);
        return all.typeName(all.thisClass).replace('/', '.');
    }

    static List<Reference> of(byte[] classFile) throws IOException {
        ClassReferences all = parse(classFile);
        List<Reference> found = new ArrayList<>();
        for (int index = 1; index < all.kinds.length; index++) {
            if (all.kinds[index] == CLASS) {
                found.add(new Reference(all.typeName(index), "", ""));
            } else if (all.kinds[index] >= FIELD && all.kinds[index] <= INTERFACE_METHOD) {
                int[] member = all.parts[all.parts[index][1]];
                found.add(new Reference(all.typeName(all.parts[index][0]), all.texts[member[0]], all.texts[member[1]]));
            }
        }
        return found;
    }

    private String typeName(int index) {
        return texts[parts[index][0]];
    }
}
