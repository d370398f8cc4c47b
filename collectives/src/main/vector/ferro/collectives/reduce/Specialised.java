package ferro.collectives.reduce;

import ferro.DataType;
import java.io.IOException;
import java.io.InputStream;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodHandles.Lookup;
import jdk.incubator.vector.VectorOperators;

/**
 * Defines a class of loops anew for each type and op. The Vector API is fast only where shape and op are constants of a
 * loop; this makes them constants without writing each loop sixty times, and no op sees what another was called with.
 */
final class Specialised {
    private Specialised() {}

    /**
     * What is constant in one definition.
     *
     * @param type    element type
     * @param op      how elements are combined
     * @param scaling how the result is scaled: DIV or MUL for averages, otherwise null
     * @param multiplies the operands that are multiplied before they are combined
     * @param both    whether the second operand gets the result too
     */
    record Choice(
            DataType type,
            VectorOperators.Binary op,
            VectorOperators.Binary scaling,
            Multiplies multiplies,
            boolean both) {}

    /** Returns what the class of a lookup was defined for. */
    static Choice choice(Lookup lookup) {
        try {
            return MethodHandles.classData(lookup, "_", Choice.class);
        } catch (IllegalAccessException refused) {
            throw new IllegalStateException(lookup + " may not read its own class data", refused);
        }
    }

    /** Defines a template anew for a choice. */
    static Lookup define(Class<?> template, Choice choice) {
        try (InputStream stream = template.getResourceAsStream(template.getSimpleName() + ".class")) {
            return MethodHandles.lookup().defineHiddenClassWithClassData(stream.readAllBytes(), choice, true);
        } catch (IllegalAccessException | IOException failure) {
            throw new IllegalStateException("cannot define " + template.getName() + " for " + choice, failure);
        }
    }
}
