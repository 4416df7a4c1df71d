import PhoneNumbers

extension PhoneNumber: Confidential {
    /// Parses a number that a caller sent.
    ///
    /// - Throws: ``Refusal`` `malformed_request`. Its reason names the defect but contains no part of the number.
    package init(fromCaller text: String, region: String? = nil) throws(Refusal) {
        do throws(PhoneNumberDefect) {
            try self.init(reading: text, region: region)
        } catch {
            throw Refusal.unreadableNumber(error)
        }
    }
}
