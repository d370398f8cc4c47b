/** Compares what all ranks must have alike. Not for other modules. */
package ferro.training.agreement;
