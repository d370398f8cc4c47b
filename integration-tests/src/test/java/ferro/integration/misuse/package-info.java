/**
 * What every public method does with an argument that cannot be: found by reflection, so that a new method is tested from the
 * day it is there. Start reading at {@link ferro.integration.misuse.PublicCalls}, then {@code NullArgumentsTest}.
 */
package ferro.integration.misuse;
