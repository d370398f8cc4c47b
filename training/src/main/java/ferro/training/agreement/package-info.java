/** Checks of values that must be equal on all ranks. Other modules must not use this package. */
package ferro.training.agreement;
