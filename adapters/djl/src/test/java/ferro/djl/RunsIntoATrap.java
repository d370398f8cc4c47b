package ferro.djl;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import java.nio.FloatBuffer;

/** A program that runs an operation that can end its JVM. The tests therefore start it in a separate JVM. */
final class RunsIntoATrap {
    private static final int ELEMENTS = 5000;
    private static final int TRIES = 1000;

    private RunsIntoATrap() {}

    public static void main(String[] arguments) {
        try (NDManager manager = NDManager.newBaseManager()) {
            switch (arguments[0]) {
                case "close" -> readAfterClose(manager);
                case "bfloat16" -> {
                    System.out.println("cast begins");
                    try (NDArray cast = manager.ones(new Shape(4)).toType(DataType.BFLOAT16, true)) {
                        System.out.println("cast " + cast.getDataType());
                    }
                }
                default -> throw new IllegalArgumentException("unknown trap " + arguments[0]);
            }
        }
    }

    private static void readAfterClose(NDManager manager) {
        NDArray array = manager.ones(new Shape(ELEMENTS));
        FloatBuffer view = array.toByteBuffer(true).asFloatBuffer();
        System.out.println("open " + view.get(ELEMENTS / 2));
        array.close();
        // another array reuses the memory after some time
        for (int again = 0; again < TRIES && view.get(ELEMENTS / 2) == 1; again++) {
            manager.full(new Shape(ELEMENTS), 2f);
        }
        System.out.println("closed " + view.get(ELEMENTS / 2));
    }
}
