/** Makes the program of examples/starter a module. */
module org.example.starter {
    requires ferro;
}
