import PhoneNumbers

extension PhoneNumber: Confidential {
    /// Reads a number that a caller wrote.
    ///
    /// - Throws: ``Refusal`` `malformed_request`; its reason names the defect, and it holds nothing of the
    ///   number.
    package init(fromCaller text: String, region: String? = nil) throws(Refusal) {
        do throws(PhoneNumberDefect) {
            try self.init(reading: text, region: region)
        } catch {
            throw Refusal(.malformedRequest, error.sentence, reason: Refusal.Reason(error))
        }
    }
}
