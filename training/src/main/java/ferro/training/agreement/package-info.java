/** Checks of values that must be equal on all ranks. Not for use by other modules. */
package ferro.training.agreement;
