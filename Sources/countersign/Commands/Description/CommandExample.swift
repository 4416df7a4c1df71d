import ArgumentParser

extension CommandConfiguration {
    /// The configuration of a command that does something, with an example on its help page.
    ///
    /// - Parameter example: the command line without the program's name.
    init(commandName: String? = nil, abstract: String, discussion: String = "", example: String) {
        self.init(
            commandName: commandName, abstract: abstract,
            discussion: (discussion.isEmpty ? "" : discussion + "\n\n") + "Example:\n  countersign \(example)")
    }
}
