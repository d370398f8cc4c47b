package ferro.collectives.reduce;

import ferro.DataType;
import java.io.IOException;
import java.io.InputStream;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodHandles.Lookup;
import jdk.incubator.vector.VectorOperators;

/**
 * The definition of a new class of loops for each type and op, from a template class. The Vector API is fast only if
 * shape and op are constants of a loop. A new class makes shape and op constants without sixty copies of the source,
 * and gives each op a separate profile in the JIT compiler.
 */
final class Specialised {
    private Specialised() {}

    /**
     * The constants of one definition.
     *
     * @param type    element type
     * @param op      how elements are combined
     * @param scaling how the result is scaled: DIV or MUL for averages, otherwise null
     * @param multiplies the operands that are multiplied before they are combined
     * @param both    whether the second operand gets the result too
     * @param firstDirect  whether the first operand is a view of a direct buffer
     * @param secondDirect whether the second operand is
     */
    record Choice(
            DataType type,
            VectorOperators.Binary op,
            VectorOperators.Binary scaling,
            PreMulTarget multiplies,
            boolean both,
            boolean firstDirect,
            boolean secondDirect) {
        Choice of(boolean isFirstDirect, boolean isSecondDirect) {
            return new Choice(type, op, scaling, multiplies, both, isFirstDirect, isSecondDirect);
        }
    }

    /** Returns the constants with which the class of a lookup was defined. */
    static Choice choice(Lookup lookup) {
        try {
            return MethodHandles.classData(lookup, "_", Choice.class);
        } catch (IllegalAccessException refused) {
            throw new IllegalStateException(lookup + " may not read its own class data", refused);
        }
    }

    /** Defines a new class from a template for a choice. */
    static Lookup define(Class<?> template, Choice choice) {
        try (InputStream stream = template.getResourceAsStream(template.getSimpleName() + ".class")) {
            return MethodHandles.lookup().defineHiddenClassWithClassData(stream.readAllBytes(), choice, true);
        } catch (IllegalAccessException | IOException failure) {
            throw new IllegalStateException("cannot define " + template.getName() + " for " + choice, failure);
        }
    }
}
